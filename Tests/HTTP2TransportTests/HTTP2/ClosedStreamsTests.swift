import Testing

@testable import HTTP2Transport

@Suite struct ClosedStreamsTests {
  @Test func `the last sixteen are remembered, with who ended them`() {
    var streams = ClosedStreams()
    #expect(streams.end(of: 1) == nil)
    for number in 0..<20 { streams.note(Int32(2 * number + 1), isOurs: number.isMultiple(of: 2)) }
    for number in 0..<20 {
      let end: ClosedStreams.End? = number < 4 ? nil : number.isMultiple(of: 2) ? .ours : .peers
      #expect(streams.end(of: Int32(2 * number + 1)) == end)
    }
    #expect(streams.end(of: 2) == nil)
  }
}
