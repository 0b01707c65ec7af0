import Foundation
import PushPolicy

/// The recall on texts of unknown origin, with one threshold for all of them: each source of the data folder is judged by
/// a model without it, and each of the project's templates by a model of the other templates.
struct Measurement {
  private let scored: [Evaluation.Scored]

  /// The maximum number of ordinary texts of a source, so that none decides about the threshold alone.
  private static let maximumOrdinary = 500
  /// The minimum number of ads of a group.
  private static let minimumAds = 10

  init(_ corpus: Corpus) {
    let whole = Trainer.train(corpus.training) { _ in }
    let scored =
      TrainAds.byFolds(corpus) + Evaluation(whole).score(corpus.unseen)
      + TrainAds.bySources(corpus, corpus.development + corpus.foreign, whole)
    self.scored = scored.filter { $0.example.label == .promo } + Self.ordinary(scored)
  }

  private static func group(_ example: Example) -> String {
    if let source = example.source {
      return [.bagisto, .spree].contains(source) ? example.kind : "\(example.kind) \(example.language)"
    }
    return (example.fold == nil ? "own sentences " : "own templates ") + example.language
  }

  private static func ordinary(_ scored: [Evaluation.Scored]) -> [Evaluation.Scored] {
    let groups = Dictionary(grouping: scored.filter { $0.example.label == .ok }) { group($0.example) }
    return groups.keys.sorted().flatMap { name in
      let texts = groups[name] ?? []
      let step = max(1, (texts.count + maximumOrdinary - 1) / maximumOrdinary)
      return stride(from: 0, to: texts.count, by: step).map { texts[$0] }
    }
  }

  /// The table for people: a line for each group, and the mean of all groups.
  var table: String {
    let ordinary = scored.filter { $0.example.label == .ok }.map(\.score)
    let thresholds = [0.001, 0.005].map { Evaluation.threshold(ordinary, falsePositives: $0) }
    let groups = Dictionary(grouping: scored) { Self.group($0.example) }
    var lines = [
      "| texts | ordinary | above the 0.5 % threshold | ads | recall at 0.1 % | at 0.5 % |",
      "| --- | --- | --- | --- | --- | --- |",
    ]
    var sums = [0.0, 0.0]
    var count = 0
    for name in groups.keys.sorted() {
      let group = groups[name] ?? []
      let ads = group.filter { $0.example.label == .promo }.map(\.score)
      let texts = group.filter { $0.example.label == .ok }.map(\.score)
      let recall = thresholds.map { threshold in Double(ads.count { $0 >= threshold }) / Double(max(1, ads.count)) }
      if ads.count >= Self.minimumAds {
        for index in sums.indices { sums[index] += recall[index] }
        count += 1
      }
      let shown = ads.isEmpty ? "- | -" : String(format: "%.1f %% | %.1f %%", 100 * recall[0], 100 * recall[1])
      lines.append(
        "| \(name) | \(texts.count) | \(texts.count { $0 >= thresholds[1] }) | \(ads.count) | \(shown) |")
    }
    let means = sums.map { 100 * $0 / Double(max(1, count)) }
    lines.append(
      "| mean of \(count) groups | \(ordinary.count) | \(ordinary.count { $0 >= thresholds[1] }) | "
        + "\(scored.count - ordinary.count) | \(String(format: "%.1f %% | %.1f %%", means[0], means[1])) |")
    return lines.joined(separator: "\n")
  }

  /// Returns the ordinary texts with the highest scores and the ads with the lowest.
  func mistakes(_ count: Int) -> String { Evaluation(.blank).mistakes(scored, count) }
}
