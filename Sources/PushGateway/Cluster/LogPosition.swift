import PushPolicy

/// A position in the delivery logs of a cluster: the number of a row in each gateway's log. Opaque to clients.
struct LogPosition: Sendable, Equatable {
  /// The numbers by gateway id.
  var numbers: [String: Int64]

  private static let maximumCount = 1_000
  private static let maximumIDSize = 36

  init(_ numbers: [String: Int64] = [:]) { self.numbers = numbers }

  /// Parses `ID:NUMBER,ID:NUMBER`; nil if the text has another form.
  init?(text: String) {
    ReadingSteps.add(text.utf8.count)
    var numbers: [String: Int64] = [:]
    for part in text.split(separator: ",", maxSplits: LogPosition.maximumCount) {
      let fields = part.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 2, (1...LogPosition.maximumIDSize).contains(fields[0].utf8.count),
        let number = Int64(fields[1]), (0..<Int64.max).contains(number)
      else { return nil }
      numbers[String(fields[0])] = number
    }
    guard !numbers.isEmpty else { return nil }
    self.numbers = numbers
  }

  var text: String { numbers.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",") }
}
