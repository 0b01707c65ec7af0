/// Finds addresses and domain names in units.
struct AdAddresses {
  private let units: AdUnits
  private let topLevelDomains = KeySet(AdAddresses.domains.map(AdKey.word))
  /// The run of labels of the last call of ``domainEnd(_:)``.
  private var labels = LabelRun()

  init(_ units: AdUnits) { self.units = units }

  /// Forgets the labels of other texts.
  mutating func reset() { labels = LabelRun() }

  /// Returns the end of the address that begins at `index` with "http" or "www."; nil if there is none.
  func addressEnd(_ index: Int) -> Int? {
    guard units.code(index) == 0x68 || units.code(index) == 0x77 else { return nil }
    let isHTTP =
      matches("http", index) && units.kind(units.lettersEnd(index)) == .stop
      && units.code(units.lettersEnd(index) + 1) == 0x2F
    guard isHTTP || matches("www.", index) && units.kind(index + 4) == .letter else { return nil }
    return wordEnd(index)
  }

  private func matches(_ text: StaticString, _ index: Int) -> Bool {
    for offset in 0..<text.utf8CodeUnitCount {
      guard units.kind(index + offset) != .end,
        unsafe units.code(index + offset) == UInt32(text.utf8Start[offset])
      else { return false }
    }
    return true
  }

  /// Returns the end of the text without spaces from `index` on.
  private func wordEnd(_ index: Int) -> Int {
    var index = index
    while units.kind(index) != .space && units.kind(index) != .end && units.kind(index) != .ideograph { index += 1 }
    return index
  }

  /// Returns the end of the address that begins at `first` with a domain name; nil if it is not a domain name.
  ///
  /// This is called at each dot of each word in a run of labels, so the run is read once for all of these calls.
  mutating func domainEnd(_ first: Int) -> Int? {
    if first < labels.start || first >= labels.end { labels = labelRun(from: first) }
    let run = labels
    guard run.lastDot > first, run.size >= 2, topLevelDomains.contains(run.hash) else { return nil }
    // The names of country domains are also everyday words, which follow a dot if the writer left out a space.
    if units.code(run.end) == 0x2F { return wordEnd(run.end) }
    return run.size > 2 || run.dotBefore > first ? run.end : nil
  }

  private func labelRun(from first: Int) -> LabelRun {
    var run = LabelRun(start: first, end: first)
    while true {
      switch units.kind(run.end) {
      case .letter, .digit:
        run.hash = AdKey.step(run.hash, units.code(run.end))
        run.size += 1
      case .hyphen where units.code(run.end) == 0x2D:
        run.size += 1
      case .stop
      where units.code(run.end) == 0x2E
        && (units.kind(run.end + 1) == .letter || units.kind(run.end + 1) == .digit):
        run.hash = AdKey.seed
        run.size = 0
        run.dotBefore = run.lastDot
        run.lastDot = run.end
      default: return run
      }
      run.end += 1
    }
  }

  /// Adjacent labels with dots between them, as in a domain name.
  private struct LabelRun {
    var start = 0
    var end = 0
    /// The last dot and the one before it; -1 if there is none.
    var lastDot = -1
    var dotBefore = -1
    /// The key of the last label, and its size.
    var hash = AdKey.seed
    var size = 0
  }

  private static let domains = [
    "com", "net", "org", "info", "biz", "app", "dev", "shop", "store", "online", "site", "xyz", "top", "vip", "club",
    "link",
    "page", "live", "edu", "gov", "cn", "io", "co", "me", "cc", "ly", "gl", "in", "uk", "de", "fr", "ru", "th", "id",
    "vn", "eu",
    "us", "ai", "tv", "to", "be", "gg", "la", "so", "im", "hk", "tw", "jp", "kr", "es", "it", "nl", "pl", "br", "au",
    "ca",
  ]
}
