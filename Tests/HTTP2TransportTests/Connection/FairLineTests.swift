import Testing

@testable import HTTP2Transport

@Suite struct FairLineTests {
  @Test func `sources take turns, and each keeps its order`() {
    var line = FairLine<String, Int>()
    #expect(line.isEmpty && line.popFirst() == nil)
    for number in 1...4 { line.append(number, from: "many") }
    line.append(10, from: "one")
    for number in 20...21 { line.append(number, from: "two") }
    #expect((0..<3).compactMap { _ in line.popFirst() } == [1, 10, 20])
    // A source without elements has lost its place.
    line.append(11, from: "one")
    #expect((0..<5).compactMap { _ in line.popFirst() } == [2, 21, 11, 3, 4])
    #expect(line.isEmpty && line.popFirst() == nil)
  }

  @Test(arguments: [1, 100])
  func `one element waits for one of each other source, however many those have`(_ count: Int) {
    var line = FairLine<Int, Int>()
    for number in 0..<count { for source in 1...3 { line.append(number, from: source) } }
    line.append(-1, from: 0)
    #expect((0..<4).compactMap { _ in line.popFirst() } == [0, 0, 0, -1])
  }
}
