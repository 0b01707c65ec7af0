import PushCore
import Testing

@Suite struct InvitationCodeTests {
  private let authority = "0123456789ABCDEF"

  @Test func `a code has the authority and a secret in groups`() {
    let once = InvitationCode(authority: authority, secret: "GHJKMNPQRS")
    #expect(once.description == "0123-4567-89AB-CDEF-GHJKM-NPQRS")
    let shared = InvitationCode(authority: authority, secret: "GHJKMNPQRSTVWXYZ0123456789")
    #expect(shared.description == "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ-0123-4567-89")
    #expect(Set(once.description + shared.description).isDisjoint(with: "OILU"))
  }

  @Test func `secrets are random, and as long as their kind asks`() {
    #expect(InvitationCode.newSecret(.once).utf8.count == 10)
    #expect(InvitationCode.newSecret(.shared).utf8.count == 26)
    #expect(InvitationCode.newSecret(.once) != InvitationCode.newSecret(.once))
  }

  @Test(arguments: [
    "0123-4567-89AB-CDEF-GHJKM-NPQRS", "0123456789abcdefghjkmnpqrs", "oi23 4567 89ab cdef ghjkm npqrs",
    " 0L23-4567 89ABCDEF-GHJKMNPQRS ",
  ])
  func `it is read however it was written down`(_ text: String) {
    let code = InvitationCode(text)
    #expect(code?.authority == authority && code?.secret == "GHJKMNPQRS")
    #expect(InvitationCode(reading: text) == code)
    #expect(InvitationCode(reading: text + "@gateway.example:2197") == code)
  }

  @Test(arguments: [
    "", "0123-4567-89AB-CDEF-GHJKM-NPQR", "0123-4567-89AB-CDEF-GHJKM-NPQRST", "0123-4567-89AB-CDEF-GHJKM-NPQRU",
    "641aaf3c05e76b3cb953a9e6cdcc0004", String(repeating: "-", count: 999), "é123-4567-89AB-CDEF-GHJKM-NPQRS",
  ])
  func `what is none is left as it is`(_ text: String) {
    #expect(InvitationCode(text) == nil)
    let code = InvitationCode(reading: text)
    #expect(code.secret == text && code.authority == nil && code.description == text)
  }

  @Test func `a code of an earlier version is read as it was made`() {
    for text in ["0123-4567-89AB-CDEF-GHJK", "0123456789abcdefghjk", "O123 4567 89AB CDEF GHJK"] {
      #expect(InvitationCode(text) == nil)
      #expect(InvitationCode(reading: text).secret == "0123-4567-89AB-CDEF-GHJK")
    }
  }

  @Test func `a short secret alone has a selector`() {
    #expect(InvitationCode.selector(of: "GHJKMNPQRS") == "GHJ")
    #expect(InvitationCode.selector(of: "GHJKMNPQRSTVWXYZ0123456789") == nil)
    #expect(InvitationCode.selector(of: "") == nil)
  }
}
