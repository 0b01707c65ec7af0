import Testing

@testable import HTTP2Transport

@Suite struct FairQueueTests {
  /// Returns the next elements, at most `count`.
  private func next<Source, Element>(_ count: Int, of line: inout FairQueue<Source, Element>) -> [Element] {
    var found: [Element] = []
    while found.count < count, let element = line.popFirst() { found.append(element) }
    return found
  }

  @Test func `sources take turns, and each keeps its order`() {
    var line = FairQueue<String, Int>()
    for number in 1...4 { line.append(number, from: "many") }
    line.append(10, from: "one")
    for number in 20...21 { line.append(number, from: "two") }
    let first = next(3, of: &line)
    #expect(first == [1, 10, 20])
    // A source without elements loses its position in the line.
    line.append(11, from: "one")
    let rest = next(100, of: &line)
    #expect(rest == [2, 21, 11, 3, 4])
  }

  @Test(arguments: [1, 100])
  func `one element waits for one of each other source, however many those have`(_ count: Int) {
    var line = FairQueue<Int, Int>()
    for number in 0..<count { for source in 1...3 { line.append(number, from: source) } }
    line.append(-1, from: 0)
    let first = next(4, of: &line)
    #expect(first == [0, 0, 0, -1])
  }
}
