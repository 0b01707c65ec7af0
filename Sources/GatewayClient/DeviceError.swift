/// The failure of a device's operation, with a text for the user.
package struct DeviceError: Error, Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// The device is not connected.
    case unreachable
    /// The gateway refused the operation.
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
