/// The subscriptions of a ``ModelEngine``.
struct ModelSubscriptions: Sendable {
  private var all: [Int: ModelEngine.Subscription] = [:]
  /// Subscriptions to one subject, by subject.
  private var plain: [String: [Int]] = [:]
  /// Subscriptions with wildcards.
  private var wild: Set<Int> = []

  subscript(number: Int) -> ModelEngine.Subscription? { all[number] }

  mutating func add(_ number: Int, _ subscription: ModelEngine.Subscription) {
    all[number] = subscription
    if subscription.pattern.isPlain {
      plain[subscription.subject, default: []].append(number)
    } else {
      wild.insert(number)
    }
  }

  mutating func remove(_ number: Int) {
    guard let subscription = all.removeValue(forKey: number) else { return }
    wild.remove(number)
    guard subscription.pattern.isPlain else { return }
    plain[subscription.subject]?.removeAll { $0 == number }
    if plain[subscription.subject]?.isEmpty == true { plain[subscription.subject] = nil }
  }

  mutating func remove(link: Int) {
    for (number, subscription) in all where subscription.link == link { remove(number) }
  }

  func matching(_ subject: String) -> [Int: ModelEngine.Subscription] {
    var found: [Int: ModelEngine.Subscription] = [:]
    for number in plain[subject] ?? [] { found[number] = all[number] }
    for number in wild { if let one = all[number], one.pattern.matches(subject) { found[number] = one } }
    return found
  }
}
