import PushCore
import Testing

@Suite struct InvitationCodeTests {
  @Test func `a code has five groups of what is not taken for something else`() {
    let all = (0..<32).map { UInt8($0) }
    #expect(InvitationCode.make(Array(all[0..<20])) == "0123-4567-89AB-CDEF-GHJK")
    #expect(InvitationCode.make(Array(all[12..<32].map { $0 | 0xE0 })) == "CDEF-GHJK-MNPQ-RSTV-WXYZ")
    #expect(Set(InvitationCode.make(Array(all[0..<20]))).isDisjoint(with: "OILU"))
  }

  @Test func `it is read however it was written down, and nothing else is touched`() {
    let code = "0123-4567-89AB-CDEF-GHJK"
    for text in [
      code, "0123456789abcdefghjk", "O123 4567 89AB CDEF GHJK", "oi23-4567-89ab-cdef-ghjk", "0L2345-6789ABCDEF GHJK",
    ] {
      #expect(InvitationCode.read(text) == code, "\(text)")
    }
    let others = [
      "", "0123-4567-89AB-CDEF-GHJ", "0123-4567-89AB-CDEF-GHJU", "641aaf3c05e76b3cb953a9e6cdcc0004",
      String(repeating: "-", count: 99), "é123-4567-89AB-CDEF-GHJK",
    ]
    for text in others { #expect(InvitationCode.read(text) == text) }
  }
}
