/// The result of an enrollment, which a device receives once.
package struct Enrolled: Codable {
  package var device: String
  package var secret: String
  package var name: String
  /// The name of the device's user; nil if the gateway does not send it.
  package var person: String?
  /// The role of the device; nil if the gateway does not send it.
  package var role: String?
  /// The channel whose link the device used to enroll; nil: none.
  package var channel: JoinedChannel?

  package init(
    device: String, secret: String, name: String, person: String? = nil, role: String? = nil,
    channel: JoinedChannel? = nil
  ) {
    self.device = device
    self.secret = secret
    self.name = name
    self.person = person
    self.role = role
    self.channel = channel
  }
}
