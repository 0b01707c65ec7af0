import Foundation
import PushCore
import Testing

@testable import pushcli

@Suite struct TimeSpanOptionTests {
  @Test func `a value that is no time is wrong usage, in one line that says the option and what may stand there`() {
    #expect {
      try TimeSpan("9223372036854775807d", option: "--since")
    } throws: { error in
      guard let failure = error as? CommandFailure else { return false }
      return failure.exit == .usage && !failure.message.contains("\n")
        && ["--since", "9223372036854775807d", "3650d", "30s"].allSatisfy { failure.message.contains($0) }
    }
  }

  @Test(arguments: [("0s", 1_700_000_000_000), ("250ms", 1_699_999_999_750), ("3650d", 1_384_640_000_000)])
  func `a time back is a moment in milliseconds`(_ text: String, _ moment: Int) throws {
    let span = try TimeSpan(text, option: "--since", requiresUnit: true)
    #expect(Int(span.before(Date(timeIntervalSince1970: 1_700_000_000))) == moment)
  }
}
