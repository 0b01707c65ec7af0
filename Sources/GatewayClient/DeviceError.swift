/// Why a device could not do what it was asked to, in words for the person.
struct DeviceError: Error, Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    /// There is no connection now.
    case unreachable
    /// The gateway does not want it.
    case refused
    /// A file of the device can't be read or written.
    case storage
  }

  var kind: Kind
  var description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
