import NATSClient

extension JetStreamMailbox {
  /// Creates or updates the streams, and reads the ids of removed pushes; retries while the cluster elects its leader.
  package func start() async throws {
    let end = environment.now() + environment.startTime
    do { try subscribeToOthers() } catch { throw JetStreamError.link(error) }
    for partition in 0..<streams.partitions {
      while true {
        do {
          try await ensure(partition)
          try await readLeft(partition)
          break
        } catch let error as JetStreamError where error.mayPass && environment.now() < end {
          await environment.pause(.milliseconds(200))
          try Task.checkCancellation()
        }
      }
    }
  }

  private func ensure(_ partition: Int) async throws {
    let name = streams.stream(partition)
    let found = try await engine.streamInfo(name)
    let first = found?.config.firstSequence ?? (found == nil ? UInt64(max(0, now())) * 1000 : nil)
    var configuration = streams.configuration(partition, replicas: replicas, cap: cap, firstSequence: first ?? 0)
    configuration.firstSequence = first
    let info: StreamInfo
    do { info = try await engine.ensureStream(configuration) } catch {
      // Another gateway created the stream at the same time, with another first number.
      guard let made = try await engine.streamInfo(name), found == nil else { throw error }
      configuration.firstSequence = made.config.firstSequence
      info = try await engine.ensureStream(configuration)
    }
    note(info.state.lastSequence, in: partition)
  }
}
