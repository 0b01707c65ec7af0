import Testing

@testable import PushGateway

@Suite struct LogFormatTests {
  @Test(
    arguments: [
      ("8:77", .journald), ("8:78", .logfmt), ("9:77", .logfmt), ("", .logfmt), ("8", .logfmt), ("x:y", .logfmt),
      (nil, .logfmt),
    ] as [(String?, LogFormat)])
  func `the journal gets fields where it reads standard error itself`(_ journal: String?, _ format: LogFormat) {
    #expect(LogFormat.auto.resolved(journal: journal, stream: (8, 77)) == format)
    #expect(LogFormat.auto.resolved(journal: journal, stream: nil) == .logfmt)
  }

  @Test(arguments: [LogFormat.logfmt, .json, .journald])
  func `what was asked for is taken`(_ format: LogFormat) {
    #expect(format.resolved(journal: "8:77", stream: (8, 77)) == format)
  }
}
