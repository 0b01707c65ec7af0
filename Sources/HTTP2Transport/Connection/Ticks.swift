import NIOCore
import PushCore

/// The timer that checks the timeouts of a loop's connections.
extension LoopContext {
  package func add(_ connection: Connection) {
    assert(eventLoop.inEventLoop)
    connections[ObjectIdentifier(connection)] = connection
    meter.open(connection.peer, connection.kind)
    if ticking == nil { startTicking() }
    startRounds()
  }

  private func startTicking() {
    let this = NIOLoopBound(self, eventLoop: eventLoop)
    let interval = TimeAmount.seconds(Int64(Limits.tick))
    ticking = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in this.value.tick() }
  }

  private func tick() {
    for connection in connections.values { connection.tick() }
    guard connections.isEmpty else { return }
    ticking?.cancel()
    ticking = nil
  }
}

extension Connection {
  /// Checks the timeouts of the peer; called every ``Limits/tick`` seconds.
  package func tick() {
    share.isHeavy = share.isQueued
    ticks.isQuiet = session.highestID == ticks.highestID && session.openStreams.allSatisfy(\.isEndless)
    ticks.highestID = session.highestID
    guard let owner, !isDraining, !isClosing, !state.isHandshaking, !isFrozen else { return }
    if state.isPaused {
      ticks.unread += 1
      guard state.hasBacklog, ticks.unread * Limits.tick >= Limits.unreadTime else { return }
      owner.exceeded(.unreadTime, on: self)
      return close(KeepAliveTimeout())
    }
    guard session.tick() else {
      owner.exceeded(.settingsTime, on: self)
      return end(.settingsTimeout)
    }
    if !hasCredential, !session.hasBegun {
      ticks.unused += 1
      guard ticks.unused * Limits.tick < Limits.firstRequestTime else {
        owner.exceeded(.firstRequestTime, on: self)
        return end(.idle)
      }
    }
    for stream in session.openStreams where !stream.isInboundEnded && stream.consumer == nil {
      stream.age += 1
      guard stream.age * Limits.tick > Limits.requestTime else { continue }
      // A stream that is already answered, or that has no head, can't receive an error response.
      guard stream.hasHead else {
        owner.exceeded(.requestTime, on: self)
        return end(.excess(.requestTime))
      }
      if stream.hasSubmittedHead {
        session.reset(stream, .noError)
      } else {
        owner.exceeded(.requestTime, on: self)
        owner.timeOut(stream)
      }
      setNeedsFlush()
    }
  }
}
