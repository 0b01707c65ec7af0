import ArgumentParser
import Glibc
import PushPolicy
import TerminalUI

/// `pushcli lint --ads`: prints a verdict for each line of NDJSON on standard input as it arrives.
struct LintAds: ParsableArguments {
  @Flag(name: .customLong("ads"), help: "Print a verdict for each line of NDJSON on standard input: an ad or not.")
  var isAsked = false
  @Flag(
    name: .customLong("reasons"), inversion: .prefixedNo,
    help: "With --ads: print the parts of the text that indicate an ad (slow).")
  var hasReasons = true
  @Flag(
    name: .customLong("bench"), help: "With --ads: print nanoseconds for each text, on one core, after a first pass.")
  var isBench = false

  /// The maximum number of invalid lines that are reported individually.
  private static let maximumFaults = 10

  /// - Throws: `ExitCode` if a line was not a notification.
  func run(asJSON isJSON: Bool) throws {
    if isBench { return try bench() }
    var lint = AdLint(hasReasons: hasReasons, isJSON: isJSON)
    var output: [UInt8] = []
    // Standard output is written in large blocks. If the reader of the pipe has closed it, the command ends without a
    // message.
    func flush(ifOver size: Int) {
      guard output.count > size else { return }
      Output.write(SanitizedText(json: output, isForTerminal: true), to: STDOUT_FILENO)
      output.removeAll(keepingCapacity: true)
    }
    var (number, faults) = (0, 0)
    try forEachLine { line in
      number += 1
      if let fault = lint.append(line, to: &output) {
        faults += 1
        if faults <= LintAds.maximumFaults { Output.words("line \(number): \(fault)") }
      }
      flush(ifOver: 1 << 16)
    }
    flush(ifOver: 0)
    guard faults > 0 else { return }
    let lines = counted(faults, "line is", "lines are")
    throw CommandFailure(.failed, "\(lines) not a notification: expected {\"id\":\"…\",\"title\":\"…\",\"body\":\"…\"}")
  }

  /// Measures the time of the verdicts alone: the texts are read and parsed before.
  private func bench() throws {
    let parser = JSONParser()
    var notifications: [[[UInt8]]] = []
    var size = 0
    try forEachLine { line in
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

  /// Calls `body` with every line of standard input, the last one also without its end.
  ///
  /// - Throws: ``CommandFailure`` if it can't be read.
  private func forEachLine(_ body: (Span<UInt8>) -> Void) throws(CommandFailure) {
    var buffer: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = unsafe read(STDIN_FILENO, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw CommandFailure(.usage, "standard input can't be read: \(errno == EISDIR ? "it is a folder" : "check it")")
      }
      if count == 0 { break }
      buffer.append(contentsOf: block[..<count])
      var start = 0
      while let end = unsafe buffer.withUnsafeBufferPointer({ bytes -> Int? in
        guard let base = bytes.baseAddress, start < bytes.count,
          let found = unsafe memchr(base + start, 10, bytes.count - start)
        else { return nil }
        return unsafe base.distance(to: found.assumingMemoryBound(to: UInt8.self))
      }) {
        // An empty line also counts as a line.
        if end >= start { body(buffer.span.extracting(start..<end)) }
        start = end + 1
      }
      buffer.removeSubrange(..<start)
    }
    if !buffer.isEmpty { body(buffer.span) }
  }
}

/// Converts one notification to one line with a verdict.
struct AdLint {
  static let names: [StaticString] = ["title", "subtitle", "body"]

  let hasReasons: Bool
  let isJSON: Bool
  private let parser = JSONParser()
  private let detector = AdDetector()

  /// Appends ID, score, label and reasons of a line; nothing for an empty line.
  ///
  /// - Returns: the reason why the line is not a notification; then nothing is appended.
  mutating func append(_ line: Span<UInt8>, to output: inout [UInt8]) -> String? {
    if line.isEmpty { return nil }
    var texts: [String] = []
    let id: String?
    do {
      id = try parser.parse(line) { root in
        for name in AdLint.names { if let text = root[name]?.string, !text.isEmpty { texts.append(text) } }
        return root["id"]?.string
      }
    } catch {
      return "this is not JSON: \(error.message)"
    }
    guard let id else { return "the member id is missing: expected a text" }
    let verdict = detector.assess(texts)
    if isJSON {
      appendJSON(id, verdict, texts, to: &output)
    } else {
      appendColumns(id, verdict, texts, to: &output)
    }
    output.append(10)
    return nil
  }

  private func appendJSON(_ id: String, _ verdict: AdAssessment, _ texts: [String], to output: inout [UInt8]) {
    output += #"{"id":"#.utf8
    appendJSONString(id, to: &output)
    output += #","score":"#.utf8
    appendDecimal(verdict.score, to: &output)
    output += verdict.outcome == .refuse ? #","label":"promo""#.utf8 : #","label":"ok""#.utf8
    if hasReasons, verdict.outcome != .pass {
      output += #","reasons":["#.utf8
      for (index, place) in detector.explain(texts).enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        output += #"{"feature":"#.utf8
        appendJSONString("\(place.feature)", to: &output)
        output +=
          #","text":\#(place.text),"from":\#(place.range.lowerBound),"to":\#(place.range.upperBound),"quote":"#.utf8
        appendJSONString(place.quote, to: &output)
        output.append(UInt8(ascii: "}"))
      }
      output.append(UInt8(ascii: "]"))
    }
    output.append(UInt8(ascii: "}"))
  }

  private func appendColumns(_ id: String, _ verdict: AdAssessment, _ texts: [String], to output: inout [UInt8]) {
    output += Sanitizer.escaped(id).utf8
    output.append(9)
    appendDecimal(verdict.score, to: &output)
    output += verdict.outcome == .refuse ? "\tpromo".utf8 : "\tok".utf8
    if hasReasons, verdict.outcome != .pass {
      output.append(9)
      for (index, place) in detector.explain(texts).enumerated() {
        if index > 0 { output.append(UInt8(ascii: ";")) }
        output += "\(place.feature)@\(place.text):\(place.range.lowerBound)-\(place.range.upperBound):".utf8
        // As JSON strings, without tabs and line breaks.
        appendJSONString(place.quote, to: &output)
      }
    }
  }

  /// Appends a number with four decimals, which is the precision of the weights.
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
