import Synchronization

/// A cache of the center's rows, of which there are thousands. Keys and frames use the same rows until a change.
///
/// Copies share the cached value, which is therefore looked up by the revision and the search that it was made from.
struct RowCache: Sendable, Equatable {
  private var revision = 0
  private let kept = Kept()

  private final class Kept: Sendable {
    let value = Mutex<(revision: Int, search: CenterSearch, list: CenterList)?>(nil)
    let madeCount = Mutex(0)
  }

  private static let lastRevision = Mutex(0)
  /// The number of times that rows were calculated.
  var madeCount: Int { kept.madeCount.withLock { $0 } }

  /// Returns true always: the cache is not part of the phone's state.
  static func == (left: RowCache, right: RowCache) -> Bool { true }

  /// Invalidates the rows after a change.
  mutating func forget() {
    revision = RowCache.lastRevision.withLock { last in
      last += 1
      return last
    }
  }

  /// Returns the rows of `state`, which must not have changed since the last call of ``forget()``.
  func list(_ state: PhoneState, _ search: CenterSearch) -> CenterList {
    kept.value.withLock { value in
      if let value, value.revision == revision {
        if value.search == search { return value.list }
      }
      // If the user extends the search text, only the earlier matches are searched.
      let narrower = value.flatMap { $0.revision == revision && search.isNarrower(than: $0.search) ? $0.list : nil }
      let list = CenterList(state, search, within: narrower)
      kept.madeCount.withLock { $0 += 1 }
      value = (revision, search, list)
      return list
    }
  }
}
