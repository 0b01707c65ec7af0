import Testing

@testable import PushCore

@Suite struct AdministratorTokenTextTests {
  @Test func `a token has the fingerprint of the authority and 26 characters that nobody can guess`() {
    let fingerprint = "04HMASW9NF6YY093"
    let texts = (0..<100).map { _ in AdministratorTokenText.make(fingerprint: fingerprint) }
    #expect(Set(texts).count == texts.count)
    for text in texts {
      #expect(text.hasPrefix("pga-\(fingerprint)-"))
      #expect(text.utf8.count == 4 + 16 + 1 + 26)
    }
  }
}
