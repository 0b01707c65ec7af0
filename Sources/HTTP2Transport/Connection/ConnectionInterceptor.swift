/// Stands between a connection and its peer where faults are injected. In production there is none: each of its
/// questions costs one look at a pointer.
///
/// Belongs to the loop of its connection.
package protocol ConnectionInterceptor: AnyObject {
  /// Whether the connection neither reads nor writes, while its socket stays.
  var isFrozen: Bool { get }
  /// Whether the peer is told another stream limit than the connection's own.
  var limitsStreams: Bool { get }
}
