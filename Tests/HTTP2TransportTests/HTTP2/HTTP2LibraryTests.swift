import Testing

@testable import HTTP2Transport

@Suite struct HTTP2LibraryTests {
  @Test func `the library of this machine has all limits`() {
    #expect(HTTP2Library.missingLimits.isEmpty)
    #expect(HTTP2Library.refusal == nil)
    #expect(HTTP2Library.version.split(separator: ".").count == 3)
  }

  @Test func `a library that lacks one is refused, and says what to do`() throws {
    let missing = HTTP2Library.missingLimits { !$0.hasSuffix("max_continuations") }
    #expect(missing == ["nghttp2_option_set_max_continuations"])
    let words = try #require(HTTP2Library.refusal(missing: missing))
    #expect(words.hasPrefix("libnghttp2 \(HTTP2Library.version) lacks nghttp2_option_set_max_continuations,"))
    #expect(words.contains("install the system's security updates"))
    #expect(HTTP2Library.missingLimits { _ in false }.count == 2)
  }
}
