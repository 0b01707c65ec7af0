import GatewayProtocol
import PushCore
import Testing

@testable import pushcli

@Suite struct WrittenInvitationTests {
  private static let code = "0123-4567-89AB-CDEF-GHJKM-NPQRS"

  @Test(
    arguments: [
      "\(code)@gateway.example:2197", "\(code)@gateway.example", " 0123456789abcdefghjkmnpqrs @ gateway.example ",
      "oi23 4567 89ab cdef ghjkm npqrs @https://gateway.example:2197/", "https://gateway.example:2197/join#\(code)",
    ])
  func `a code and an address are read as they are told`(_ text: String) throws {
    let invitation = try WrittenInvitation(text)
    #expect(invitation.code?.description == WrittenInvitationTests.code)
    #expect(invitation.address == GatewayAddress(host: "gateway.example", port: 2197))
  }

  @Test func `an address alone leaves the code to be asked for`() throws {
    let invitation = try WrittenInvitation("gateway.example:443")
    #expect(invitation.code == nil && invitation.address.port == 443)
  }

  @Test(arguments: ["", "@", "@gateway.example", "\(code)", "\(code)@", "012@gateway.example", "\(code)@gateway:x"])
  func `anything else is refused`(_ text: String) {
    #expect(throws: CommandFailure.self) { try WrittenInvitation(text) }
  }

  @Test func `a token tells whose it is`() {
    #expect(Login.authority(of: "pga-0123456789ABCDEF-SECRET") == "0123456789ABCDEF")
    for text in ["", "pga", "pga-0123-SECRET", "pgb-0123456789ABCDEF-SECRET", "pga-0123456789ABCDEF"] {
      #expect(Login.authority(of: text) == nil, "\(text)")
    }
  }
}
