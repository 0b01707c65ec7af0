/// What a device gets to know at enrollment, once.
package struct Enrolled: Codable {
  package var device: String
  package var secret: String
  package var name: String
  /// Whose it is; nil where that is not said.
  package var person: String?
  /// What it may do; nil where that is not said.
  package var role: String?
  /// What it reads by the link that it came by; nil where it came by none.
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
