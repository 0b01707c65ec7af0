/// An injected fault between a connection and its peer. In production there is none: each check costs one comparison
/// with nil.
///
/// Belongs to the loop of its connection.
package protocol ConnectionInterceptor: AnyObject {
  /// True while the connection neither reads nor writes, although its socket stays open.
  var isFrozen: Bool { get }
  /// True if the fault announces a different stream limit than the connection's own.
  var limitsStreams: Bool { get }
}
