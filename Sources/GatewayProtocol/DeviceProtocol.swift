package import PushPolicy

/// The version of the lines between devices and gateways (``DeviceLine``, ``GatewayLine``).
///
/// Each end sends its version in its first line, `hello` or `welcome`, and neither refuses the other. An end ignores
/// unknown members and types of lines, and works without lines that an older end does not send.
///
/// The number increases when an end may send something only to an end that supports it; the line is then sent only to
/// an end of this version or a later one.
package enum DeviceProtocol {
  /// Version 1: ends do not send a version. Version 2: ends send their version. Version 3: the gateway confirms the
  /// answer in effect (`answered`), and a device repeats its own until then.
  package static let version = 3
  /// The first version in which a gateway confirms answers.
  package static let confirmsAnswers = 3
  /// The version of an end that sends none.
  package static let unversioned = 1

  /// Returns the version in a first line, which is 1 or higher; ``unversioned`` for any other value.
  package static func version(_ element: JSONElement?) -> Int {
    guard let version = element?.integer, version >= unversioned else { return unversioned }
    return version
  }
}
