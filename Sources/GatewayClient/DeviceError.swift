/// Why a device could not do what it was asked to, in words for the person.
package struct DeviceError: Error, Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// There is no connection now.
    case unreachable
    /// The gateway does not want it.
    case refused
    /// A file of the device can't be read or written.
    case storage
  }

  package var kind: Kind
  package var description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
