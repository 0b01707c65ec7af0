import Foundation
import Testing

@testable import pushcli

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct BenchPictureTests {
  private let picture = BenchPicture(
    title: "One & two", subtitle: "10 devices <flat out>",
    latencies: [.init(name: "to the device", style: "delivered", points: [.init(x: 0, y: 1), .init(x: 4, y: 10)])],
    rates: [
      .init(name: "accepted", style: "accepted", points: [.init(x: 0.5, y: 900), .init(x: 1.5, y: 1100)]),
      .init(name: "delivered", style: "delivered", points: [.init(x: 0.5, y: 800), .init(x: 1.5, y: 1100)]),
    ], measuredFrom: 1)

  @Test func `it is XML, with its texts escaped`() {
    let svg = picture.svg
    #expect(XMLParser(data: Data(svg.utf8)).parse())
    #expect(svg.contains("One &amp; two"))
    #expect(svg.contains("10 devices &lt;flat out>"))
  }

  @Test func `it knows light and dark`() { #expect(picture.svg.contains("prefers-color-scheme: dark")) }

  @Test func `curves lie where their values are`() {
    // The highest latency is the top of its chart, and its last percentile the right edge.
    #expect(picture.svg.contains(#"<path class="delivered" d="M70.0,271.0 L870.0,100.0"/>"#))
    #expect(picture.svg.components(separatedBy: "<path").count == 4)
    #expect(picture.svg.contains(#"<rect class="warm" x="70.0" y="370.0" width="400.0""#))
  }

  @Test(arguments: [(0.0, 1.0), (0.3, 0.4), (1, 1), (1.1, 2), (9, 10), (37, 40), (900, 1000), (4100, 8000)])
  func `an axis ends at a round number`(_ value: Double, ceiling: Double) {
    #expect(abs(BenchPicture.niceCeiling(value) - ceiling) < 1e-9)
  }

  @Test func `a test without a result draws empty charts`() {
    let empty = BenchPicture(title: "", subtitle: "", latencies: [], rates: [], measuredFrom: 0)
    #expect(XMLParser(data: Data(empty.svg.utf8)).parse())
  }
}
