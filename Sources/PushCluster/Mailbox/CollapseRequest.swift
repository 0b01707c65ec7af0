import PushCore
import PushStorage

/// A queued push with a collapse id that replaces the previous push of that id.
struct CollapseRequest: Sendable {
  let push: StoredPush
  let seq: UInt64
  /// Receives the id of the replaced push.
  let done: @Sendable (APNSID?) -> Void
}
