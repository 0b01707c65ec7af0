package import PushPolicy

/// The version of the lines that devices and gateways send each other (``DeviceLine``, ``GatewayLine``).
///
/// Each end says in its first line, `hello` or `welcome`, which version it speaks, and neither refuses the other: an end
/// ignores members and types of lines that it does not know, and does without those that an older end does not send. The
/// number rises when an end has to know what the other one understands before it may send something; it then sends that
/// only to an end of this version or a later one.
package enum DeviceProtocol {
  /// 1: before ends said what they speak. 2: they say it. 3: the gateway says which answer counts (`answered`), and a
  /// device repeats its own until then.
  package static let version = 3
  /// The first version in which a gateway says that it has an answer.
  package static let confirmsAnswers = 3
  /// The version of an end that says none.
  package static let unversioned = 1

  /// The version that a first line says: a number from 1 on, else it says none.
  package static func version(_ element: JSONElement?) -> Int {
    guard let version = element?.integer, version >= unversioned else { return unversioned }
    return version
  }
}
