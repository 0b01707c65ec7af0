import Synchronization

/// The rows of the center, made once for all keys and frames until something changes: there are thousands.
///
/// Copies share what is kept, which therefore is looked up by what it was made from.
struct RowCache: Sendable, Equatable {
  private var revision = 0
  private let kept = Kept()

  private final class Kept: Sendable {
    let value = Mutex<(revision: Int, search: CenterSearch, list: CenterList)?>(nil)
    let madeCount = Mutex(0)
  }

  private static let lastRevision = Mutex(0)
  /// How often rows were made.
  var madeCount: Int { kept.madeCount.withLock { $0 } }

  /// It is no part of what a phone is.
  static func == (left: RowCache, right: RowCache) -> Bool { true }

  /// Something has changed.
  mutating func forget() {
    revision = RowCache.lastRevision.withLock { last in
      last += 1
      return last
    }
  }

  /// The rows of `state`, which has not changed since ``forget()`` was last called.
  func list(_ state: PhoneState, _ search: CenterSearch) -> CenterList {
    kept.value.withLock { value in
      if let value, value.revision == revision {
        if value.search == search { return value.list }
      }
      // Whoever types on searches what was found.
      let narrower = value.flatMap { $0.revision == revision && search.isNarrower(than: $0.search) ? $0.list : nil }
      let list = CenterList(state, search, within: narrower)
      kept.madeCount.withLock { $0 += 1 }
      value = (revision, search, list)
      return list
    }
  }
}
