import PushPolicy
import Testing

@testable import LoadTest

@Suite struct LoadTagTests {
  private let mark = LoadTag(run: 0xBEEF, provider: 3, device: 99_999, number: .max - 1, intended: (1 << 48) - 1)

  private func find(_ line: [UInt8]) -> LoadTag? { unsafe line.withUnsafeBytes { unsafe LoadTag(line: $0) } }

  @Test(arguments: [MarkedPayload.minimumSize, 200, 4096])
  func `a payload has exactly its size and gives its mark back`(_ size: Int) throws {
    var payload = MarkedPayload(size: size)
    payload.set(mark)
    #expect(payload.bytes.count == size)
    #expect(find(payload.bytes) == mark)
    let line = Array(#"{"type":"push","seq":1,"payload":"#.utf8) + payload.bytes + Array("}".utf8)
    #expect(find(line) == mark)
  }

  @Test func `a mark is found also where it usually is not`() {
    var payload = MarkedPayload(size: 120)
    payload.set(mark)
    #expect(find(payload.bytes + Array(#","more":"after it"}"#.utf8)) == mark)
  }

  @Test func `a payload is what the gateway takes`() throws {
    let parsed = try JSONParser().payload(MarkedPayload(size: 200).bytes.span)
    #expect(parsed.violations.isEmpty)
    #expect(parsed.notification.alert?.title != nil)
  }

  @Test(arguments: ["", "{}", #"{"mark":"12"}"#, #"{"mark":"00000000000000000000000000000000000z"}"#])
  func `a line without a mark has none`(_ line: String) { #expect(find(Array(line.utf8)) == nil) }
}
