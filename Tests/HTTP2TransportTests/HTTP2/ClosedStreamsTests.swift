import Testing

@testable import HTTP2Transport

@Suite struct ClosedStreamsTests {
  @Test func `the last sixteen are remembered, with who ended them`() {
    var streams = ClosedStreams()
    #expect(streams.end(of: 1) == nil)
    let ends: [ClosedStreams.End] = [.ours, .reset, .whole]
    for number in 0..<20 { streams.note(Int32(2 * number + 1), ends[number % 3]) }
    for number in 0..<20 {
      #expect(streams.end(of: Int32(2 * number + 1)) == (number < 4 ? nil : ends[number % 3]))
      #expect(streams.end(of: Int32(2 * number)) == nil)
    }
    streams.note(.max, .reset)
    #expect(streams.end(of: .max) == .reset)
  }
}
