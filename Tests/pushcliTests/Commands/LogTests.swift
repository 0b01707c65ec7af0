import Testing

@testable import pushcli

@Suite struct LogTests {
  @Test(
    arguments: [
      ("Train in 5 Minutes\nPlatform 4", "“Train in 5 Minutes – Platform 4”"), ("\npiped", "“piped”"),
      ("Title\n\nBody", "“Title – Body”"), ("Title\n", "“Title”"), ("a\n b \n\n\nc", "“a – b – c”"), ("", ""),
      ("\n\n", ""), (" \n ", ""),
    ])
  func `a row has the texts of its push, and no dash for what it has none of`(_ text: String, _ expected: String) {
    #expect(Log.quoted(text) == expected)
  }
}
