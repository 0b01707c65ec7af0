import LoadTest

/// A picture of a test as SVG: latency by percentile, and rates over time. Readable on light and dark ground.
struct BenchPicture {
  /// A line of a chart.
  struct Curve: Equatable {
    var name: String
    /// The class that colors it.
    var style: String
    var points: [Point]
  }

  struct Point: Equatable {
    var x: Double
    var y: Double
  }

  var title: String
  var subtitle: String
  var latencies: [Curve]
  var rates: [Curve]
  /// Where the warm-up ended, in seconds.
  var measuredFrom: Double

  /// The percentiles that are drawn, each with its place: another nine, another step.
  private static let ticks: [(label: String, percentile: Double)] = [
    ("0", 0), ("90 %", 90), ("99 %", 99), ("99.9 %", 99.9), ("99.99 %", 99.99),
  ]
  private static let width = 900.0
  private static let height = 620.0
  private static let chart = (left: 70.0, width: 800.0, height: 190.0)

  /// Draws a report.
  init(_ report: LoadTest.Report, title: String, subtitle: String) {
    self.title = title
    self.subtitle = subtitle
    measuredFrom = report.result.warmUpSeconds
    func curve(_ name: String, _ style: String, _ latencies: Latencies) -> Curve? {
      guard latencies.count > 0 else { return nil }
      let points = stride(from: 0.0, through: 4.0, by: 0.05).map { nines in
        Point(x: nines, y: latencies.percentile(100 * (1 - BenchPicture.tenToMinus(nines))))
      }
      return Curve(name: name, style: style, points: points)
    }
    self.latencies = [
      curve("to the answer", "accepted", report.acceptLatencies),
      curve("to the device", "delivered", report.deliveryLatencies),
    ].compactMap { $0 }
    let seconds = report.result.seconds
    func rates(_ name: String, _ style: String, _ value: (LoadSecond) -> Int) -> Curve? {
      guard seconds.contains(where: { value($0) > 0 }) else { return nil }
      return Curve(
        name: name, style: style,
        points: seconds.map { Point(x: Double($0.second) + 0.5, y: Double(value($0))) })
    }
    self.rates = [rates("accepted", "accepted", \.accepted), rates("delivered", "delivered", \.delivered)]
      .compactMap { $0 }
  }

  init(title: String, subtitle: String, latencies: [Curve], rates: [Curve], measuredFrom: Double) {
    self.title = title
    self.subtitle = subtitle
    self.latencies = latencies
    self.rates = rates
    self.measuredFrom = measuredFrom
  }

  private static func tenToMinus(_ exponent: Double) -> Double {
    var (value, whole) = (1.0, exponent)
    while whole >= 1 {
      value /= 10
      whole -= 1
    }
    // e^(-whole · ln 10) by its series; whole is below 1.
    var (term, sum) = (1.0, 1.0)
    for step in 1...20 {
      term *= -whole * 2.302585092994046 / Double(step)
      sum += term
    }
    return value * sum
  }

  var svg: String {
    var body = ""
    body += text(BenchPicture.chart.left, 34, title, style: "title")
    body += text(BenchPicture.chart.left, 56, subtitle, style: "small")
    let nines = BenchPicture.ticks.map { tick in
      (tick.label, tick.percentile == 0 ? 0.0 : Double(BenchPicture.ticks.firstIndex { $0.label == tick.label } ?? 0))
    }
    body += chart(top: 100, caption: "Latency in milliseconds, by percentile", curves: latencies, to: 4, ticks: nines)
    let end = max(1, rates.flatMap(\.points).map(\.x).max() ?? 1) + 0.5
    let step = max(1, (end / 8).rounded(.up))
    let times = stride(from: 0.0, through: end, by: step).map { ("\(Int($0)) s", $0) }
    body += chart(
      top: 370, caption: "Pushes a second", curves: rates, to: end, ticks: times, shade: measuredFrom)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(BenchPicture.width)) \(Int(BenchPicture.height))" \
      role="img" aria-label="\(escaped(title))">
      <style>
      svg { font: 13px system-ui, sans-serif; } .ground { fill: #ffffff; }
      text { fill: #1f2328; } .title { font-size: 18px; font-weight: 600; } .small { fill: #59636e; }
      .grid { stroke: #d1d9e0; stroke-width: 1; } .warm { fill: #59636e; opacity: 0.1; }
      path { fill: none; stroke-width: 2; stroke-linejoin: round; }
      path.accepted, line.accepted { stroke: #0969da; } path.delivered, line.delivered { stroke: #bc4c00; }
      line.accepted, line.delivered { stroke-width: 3; }
      @media (prefers-color-scheme: dark) {
        .ground { fill: #0d1117; } text { fill: #e6edf3; } .small { fill: #9198a1; } .grid { stroke: #30363d; }
        .warm { fill: #9198a1; }
        path.accepted, line.accepted { stroke: #58a6ff; } path.delivered, line.delivered { stroke: #f0883e; }
      }
      </style>
      <rect class="ground" width="100%" height="100%"/>
      \(body)</svg>

      """
  }

  private func chart(
    top: Double, caption: String, curves: [Curve], to end: Double, ticks: [(label: String, x: Double)],
    shade: Double = 0
  ) -> String {
    let (left, width, height) = BenchPicture.chart
    let highest = BenchPicture.niceCeiling(curves.flatMap(\.points).map(\.y).max() ?? 1)
    func x(_ value: Double) -> Double { left + value / end * width }
    func y(_ value: Double) -> Double { top + height - value / highest * height }
    var body = text(left, top - 14, caption)
    var legend = left + width
    for curve in curves.reversed() {
      legend -= Double(curve.name.count) * 7 + 46
      body += #"<line class="\#(curve.style)" x1="\#(number(legend))" x2="\#(number(legend + 20))" "#
      body += #"y1="\#(number(top - 18))" y2="\#(number(top - 18))"/>\#n"#
      body += text(legend + 26, top - 14, curve.name)
    }
    if shade > 0 {
      body += #"<rect class="warm" x="\#(number(left))" y="\#(number(top))" "#
      body += #"width="\#(number(min(shade, end) / end * width))" height="\#(number(height))"/>\#n"#
    }
    for step in 0...4 {
      let value = highest * Double(step) / 4
      body += #"<line class="grid" x1="\#(number(left))" x2="\#(number(left + width))" "#
      body += #"y1="\#(number(y(value)))" y2="\#(number(y(value)))"/>\#n"#
      body += text(left - 8, y(value) + 4, BenchPicture.label(value), style: "small", anchor: "end")
    }
    for tick in ticks { body += text(x(tick.x), top + height + 20, tick.label, style: "small", anchor: "middle") }
    for curve in curves {
      let points = curve.points.map { "\(number(x($0.x))),\(number(y($0.y)))" }.joined(separator: " L")
      body += #"<path class="\#(curve.style)" d="M\#(points)"/>\#n"#
    }
    return body
  }

  private func text(_ x: Double, _ y: Double, _ text: String, style: String = "", anchor: String = "start") -> String {
    #"<text class="\#(style)" x="\#(number(x))" y="\#(number(y))" text-anchor="\#(anchor)">\#(escaped(text))</text>\#n"#
  }

  private func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }

  private func number(_ value: Double) -> String { BenchTable.decimal(value, 1) }

  /// The first of 1, 2, 4 and 8 times a power of ten that is not below a value.
  static func niceCeiling(_ value: Double) -> Double {
    guard value > 0 else { return 1 }
    var power = 1.0
    while power > value { power /= 10 }
    while power * 10 <= value { power *= 10 }
    for factor in [1.0, 2, 4, 8, 10] where power * factor >= value { return power * factor }
    return power * 10
  }

  private static func label(_ value: Double) -> String {
    if value == 0 { return "0" }
    if value >= 10 { return BenchTable.grouped(Int(value.rounded())) }
    return BenchTable.decimal(value, value < 0.1 ? 3 : 2)
  }
}
