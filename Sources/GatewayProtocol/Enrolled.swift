/// What a device gets to know at enrollment, once.
package struct Enrolled: Codable {
  package var device: String
  package var secret: String
  package var name: String

  package init(device: String, secret: String, name: String) {
    self.device = device
    self.secret = secret
    self.name = name
  }
}
