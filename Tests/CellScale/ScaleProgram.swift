import Foundation

/// The program of `make simulate-scale`: `cell-scale [GATEWAYS [DEVICES [PUSHES]]]`; or `cell-scale reads COUNT SERVER…` or
/// `cell-scale looks COUNT SERVER…` at real brokers.
@main struct ScaleProgram {
  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.count > 2, let way = ScaleReads.Way(rawValue: words[0]), let count = Int(words[1]) {
      return print("\(count) \(way) in \(try await ScaleReads.run(Array(words[2...]), count: count, way)) s")
    }
    let numbers = words.compactMap { Int($0) }
    var size = ScaleSize()
    if numbers.count > 0 { size.gateways = max(2, numbers[0]) }
    if numbers.count > 1 { size.devices = max(size.gateways, numbers[1]) }
    if numbers.count > 2 { size.pushes = max(size.gateways, numbers[2]) }
    let start = ContinuousClock.now
    let run = try await ScaleRun(size) { @Sendable step in
      FileHandle.standardError.write(Data("\(Int((ContinuousClock.now - start) / .seconds(1))) s: \(step)\n".utf8))
    }
    for line in ScaleReport(run).lines { print(line) }
  }
}
