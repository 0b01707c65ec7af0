import Foundation
import PushPolicy

/// The results of a model on texts that it was not trained on, as tables for people.
struct Evaluation {
  struct Scored {
    var example: Example
    var score: Double
  }

  let detector: AdDetector
  let model: AdModel

  init(_ model: AdModel) {
    self.model = model
    detector = AdDetector(model: model)
  }

  func score(_ examples: [Example]) -> [Scored] {
    examples.map { Scored(example: $0, score: detector.assess($0.texts).score) }
  }

  /// Returns the lowest threshold that at most the fraction `part` of the scores of ordinary texts reach.
  static func threshold(_ scores: [Double], falsePositives part: Double) -> Double {
    let sorted = scores.sorted(by: >)
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))].nextUp
  }

  /// Returns the row of one group of texts, with the columns of ``head``.
  func line(_ name: String, _ scored: [Scored]) -> String {
    let ok = scored.filter { $0.example.label == .ok }.map(\.score)
    let promo = scored.filter { $0.example.label == .promo }.map(\.score)
    func reach(_ scores: [Double], _ threshold: Float) -> Int { scores.count { $0 >= Double(threshold) } }
    func percent(_ part: Int, _ whole: Int) -> String {
      whole == 0 ? "-" : String(format: "%.2f %%", 100 * Double(part) / Double(whole))
    }
    let falseRefusals = reach(ok, model.refuseThreshold)
    let refused = reach(promo, model.refuseThreshold)
    let precision = refused + falseRefusals == 0 ? "-" : percent(refused, refused + falseRefusals)
    func recall(_ part: Double) -> String {
      ok.count < 100 || promo.isEmpty
        ? "-" : percent(promo.count { $0 >= Self.threshold(ok, falsePositives: part) }, promo.count)
    }
    return "| \(name) | \(ok.count) | \(falseRefusals) (\(percent(falseRefusals, ok.count))) | "
      + "\(percent(reach(ok, model.holdThreshold), ok.count)) | \(promo.count) | \(percent(refused, promo.count)) | "
      + "\(percent(reach(promo, model.holdThreshold), promo.count)) | \(precision) | \(recall(0.001)) | \(recall(0.005)) |"
  }

  static let head = """
    | texts | ordinary | refused | hold or refuse | ads | refused | hold or refuse | precision | recall at 0.1 % | at 0.5 % |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    """

  func table(_ title: String, _ scored: [Scored], by group: (Example) -> String) -> String {
    let groups = Dictionary(grouping: scored) { group($0.example) }
    let lines = groups.keys.sorted().map { line($0, groups[$0] ?? []) }
    return ([title, "", Self.head, line("all", scored)] + lines).joined(separator: "\n") + "\n"
  }

  /// Returns the ordinary texts with the highest scores and the ads with the lowest.
  func mistakes(_ scored: [Scored], _ count: Int) -> String {
    let ok = scored.filter { $0.example.label == .ok }.sorted { $0.score > $1.score }.prefix(count)
    let promo = scored.filter { $0.example.label == .promo }.sorted { $0.score < $1.score }.prefix(count)
    return (Array(ok) + promo).map {
      String(format: "%6.2f", $0.score)
        + " \($0.example.label) \($0.example.kind): \($0.example.texts.joined(separator: " // ").prefix(150))"
    }.joined(separator: "\n")
  }
}
