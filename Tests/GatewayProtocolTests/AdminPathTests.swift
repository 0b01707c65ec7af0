import Testing

@testable import GatewayProtocol

@Suite struct AdminPathTests {
  @Test func `a path has its arguments at the placeholders`() {
    #expect(AdminPath.status() == "/admin/v1/status")
    #expect(AdminPath.registrations("me") == "/admin/v1/devices/me/registrations")
    #expect(AdminPath.registration("me", "com.example.news") == "/admin/v1/devices/me/registrations/com.example.news")
  }

  @Test func `an argument is one part of the path`() {
    #expect(AdminPath.person("Ada/Lovelace ?") == "/admin/v1/persons/Ada%2FLovelace%20%3F")
    #expect(AdminPath.person("{name}") == "/admin/v1/persons/%7Bname%7D")
  }
}
