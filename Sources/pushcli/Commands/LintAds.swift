import ArgumentParser
import Glibc
import PushPolicy
import TerminalUI

/// `pushcli lint --ads`: a verdict for each line of NDJSON on standard input, as it comes.
struct LintAds: ParsableArguments {
  @Flag(name: .customLong("ads"), help: "Say of each line of NDJSON on standard input whether it advertises.")
  var isAsked = false
  @Flag(
    name: .customLong("reasons"), inversion: .prefixedNo,
    help: "With --ads: name the places that speak for an ad, which costs most of the time. (yes)")
  var hasReasons = true
  @Flag(
    name: .customLong("bench"), help: "With --ads: print nanoseconds for each text, on one core, after a first pass.")
  var isBench = false

  func run() throws {
    if isBench { return bench() }
    var lint = AdLint(hasReasons: hasReasons)
    var writer = OutputBuffer()
    forEachLine { line in
      lint.append(line, to: &writer.bytes)
      writer.flush(ifOver: OutputBuffer.size)
    }
    writer.flush(ifOver: 0)
  }

  /// The time of a verdict alone: the texts are read and taken apart before.
  private func bench() {
    let parser = JSONParser()
    var notifications: [[[UInt8]]] = []
    var size = 0
    forEachLine { line in
      let texts = try? parser.parse(line) { root in
        AdLint.names.map { name in root[name]?.string.map { Array($0.utf8) } ?? [] }.filter { !$0.isEmpty }
      }
      guard let texts else { return }
      notifications.append(texts)
      size += texts.reduce(0) { $0 + $1.count }
    }
    guard !notifications.isEmpty else { return Output.words("nothing to measure: standard input has no notification") }
    let detector = AdDetector()
    var refused = 0
    func pass() {
      for texts in notifications {
        detector.begin()
        for text in texts { detector.add(text.span) }
        if detector.verdict().outcome == .refuse { refused += 1 }
      }
    }
    pass()
    let clock = ContinuousClock()
    let start = clock.now
    var count = 0
    repeat {
      pass()
      count += notifications.count
    } while clock.now - start < .seconds(2)
    let nanoseconds = Double((clock.now - start) / .nanoseconds(1)) / Double(count)
    Output.data(
      "\(Int(nanoseconds)) ns a text of \(size / notifications.count) bytes at the mean, "
        + "\(Int(1e9 / nanoseconds)) texts a second")
  }

  /// Hands every line of standard input to `body`, the last one also without its end.
  private func forEachLine(_ body: (Span<UInt8>) -> Void) {
    var buffer: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = unsafe read(STDIN_FILENO, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      buffer.append(contentsOf: block[..<count])
      var start = 0
      while let end = unsafe buffer.withUnsafeBufferPointer({ bytes -> Int? in
        guard let base = bytes.baseAddress, start < bytes.count,
          let found = unsafe memchr(base + start, 10, bytes.count - start)
        else { return nil }
        return unsafe base.distance(to: found.assumingMemoryBound(to: UInt8.self))
      }) {
        if end > start { body(buffer.span.extracting(start..<end)) }
        start = end + 1
      }
      buffer.removeSubrange(..<start)
    }
    if !buffer.isEmpty { body(buffer.span) }
  }
}

/// Turns one notification into one line of verdict.
struct AdLint {
  static let names: [StaticString] = ["title", "subtitle", "body"]

  let hasReasons: Bool
  private let parser = JSONParser()
  private let detector = AdDetector()

  init(hasReasons: Bool) { self.hasReasons = hasReasons }

  /// Appends `id`, score, label and reasons of a line; of a line that is not JSON or has no id, nothing.
  mutating func append(_ line: Span<UInt8>, to output: inout [UInt8]) {
    var texts: [String] = []
    let id = try? parser.parse(line) { root in
      for name in AdLint.names { if let text = root[name]?.string, !text.isEmpty { texts.append(text) } }
      return root["id"]?.string
    }
    guard let id = id ?? nil else { return }
    let verdict = detector.assess(texts)
    output += Sanitizer.escaped(id).utf8
    output.append(9)
    appendDecimal(verdict.score, to: &output)
    output += verdict.outcome == .refuse ? "\tpromo".utf8 : "\tok".utf8
    if hasReasons, verdict.outcome != .pass {
      output.append(9)
      for (index, place) in detector.explain(texts).enumerated() {
        if index > 0 { output.append(UInt8(ascii: ";")) }
        output += "\(place.feature)@\(place.text):\(place.range.lowerBound)-\(place.range.upperBound):".utf8
        // JSON has no tabs and line breaks in its strings.
        appendJSONString(place.quote, to: &output)
      }
    }
    output.append(10)
  }

  /// Four digits behind the point say all that the weights do.
  private func appendDecimal(_ value: Double, to output: inout [UInt8]) {
    let scaled = Int((value.magnitude * 10_000).rounded())
    if value < 0 { output.append(UInt8(ascii: "-")) }
    output += String(scaled / 10_000).utf8
    output.append(UInt8(ascii: "."))
    var divisor = 1000
    while divisor > 0 {
      output.append(UInt8(ascii: "0") + UInt8(scaled / divisor % 10))
      divisor /= 10
    }
  }
}

/// Standard output in large pieces.
struct OutputBuffer {
  static let size = 1 << 16

  var bytes: [UInt8] = []

  /// Writes what is there when it is more than `size` bytes; a reader who has gone ends the command quietly.
  mutating func flush(ifOver size: Int) {
    guard bytes.count > size else { return }
    Output.write(SafeText(json: bytes, isForTerminal: true), to: STDOUT_FILENO)
    bytes.removeAll(keepingCapacity: true)
  }
}
