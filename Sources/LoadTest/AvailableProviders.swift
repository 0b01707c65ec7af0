import DequeModule

/// The providers with free capacity, used round-robin.
struct AvailableProviders {
  private var providers = Deque<LoadProvider>()

  var isEmpty: Bool { providers.isEmpty }

  /// Adds a provider, unless it is listed already.
  mutating func add(_ provider: LoadProvider) {
    guard !provider.isListed else { return }
    provider.isListed = true
    providers.append(provider)
  }

  /// Removes and returns the next provider that still has capacity; nil if there is none.
  mutating func next() -> LoadProvider? {
    while let provider = providers.popFirst() {
      provider.isListed = false
      if provider.hasCapacity { return provider }
    }
    return nil
  }
}
