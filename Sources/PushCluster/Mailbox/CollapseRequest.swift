import PushCore
import PushStorage

/// What waits to become the last of a collapse id.
struct CollapseRequest: Sendable {
  let push: StoredPush
  let seq: UInt64
  /// Told which push it replaced.
  let done: @Sendable (APNSID?) -> Void
}
