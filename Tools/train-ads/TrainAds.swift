import Foundation
import PushPolicy

/// Trains, evaluates and benchmarks the advertising detector.
///
///     train-ads train DATA TEXTS MODEL      trains the model and writes it
///     train-ads evaluate DATA TEXTS [N]     prints tables for the embedded model, and its N worst mistakes of each kind
///     train-ads measure DATA TEXTS [N]      prints the recall on texts of unknown origin, with one threshold for all;
///                                           then the largest score that the characters of a short text add with the
///                                           embedded model, with an error if it exceeds the bound of the detector
///     train-ads judge FILE                  prints the same for rows `label, language, kind, text` of a file
///     train-ads bench DATA                  prints the number of texts per second on one core
@main
struct TrainAds {
  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("train-ads: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    let paths = arguments.dropFirst().map { URL(fileURLWithPath: $0) }
    switch (arguments.first, paths.count) {
    case ("train", 3): try train(Corpus(data: paths[0], texts: paths[1]), to: paths[2])
    case ("evaluate", 2), ("evaluate", 3):
      try evaluate(Corpus(data: paths[0], texts: paths[1]), Int(arguments.dropFirst(3).first ?? "0") ?? 0)
    case ("measure", 2), ("measure", 3):
      let corpus = try Corpus(data: paths[0], texts: paths[1])
      let measurement = Measurement(corpus)
      print(measurement.table)
      if let count = arguments.dropFirst(3).first.flatMap({ Int($0) }) { print("\n" + measurement.mistakes(count)) }
      try measureCharacters(corpus)
    case ("judge", 1): try judge(paths[0])
    case ("bench", 1): try bench(paths[0])
    default:
      throw TrainingError(
        "usage: train-ads train DATA TEXTS MODEL | evaluate DATA TEXTS [N] | measure DATA TEXTS [N] | judge FILE | bench DATA"
      )
    }
  }

  /// The kinds of texts that people depend on. Of each, 0.3 % are refused at most.
  private static let neededKinds: Set = ["bank", "security", "delivery", "ops", "chat", "calendar", "subscription"]

  private static func train(_ corpus: Corpus, to file: URL) throws {
    var model = Trainer.train(corpus.training) { print($0) }
    // Texts that the model was not trained on: those of the other templates, and the development data of the permissive
    // sources, each judged by a model without the source.
    let ordinary =
      (byFolds(corpus) + bySources(corpus, corpus.development.filter { $0.source?.isPermissive == true }, model))
      .filter { $0.example.label == .ok }
    let needed = Dictionary(grouping: ordinary.filter { neededKinds.contains($0.example.kind) }) { $0.example.kind }
    // The kinds that people depend on have their own limit, so that they do not compensate for others.
    func threshold(_ part: Double, inNeeded neededPart: Double) -> Float {
      let kinds = needed.values.map { Evaluation.threshold($0.map(\.score), falsePositives: neededPart) }
      return Float(max(Evaluation.threshold(ordinary.map(\.score), falsePositives: part), kinds.max() ?? 0))
    }
    model.refuseThreshold = threshold(0.001, inNeeded: 0.003)
    model.holdThreshold = min(threshold(0.005, inNeeded: 0.02), model.refuseThreshold)
    print("hold at \(model.holdThreshold), refuse at \(model.refuseThreshold)")
    let bytes = model.bytes
    guard bytes.count <= AdModel.maximumSize else { throw TrainingError("the model has \(bytes.count) bytes") }
    try Data(bytes).write(to: file)
    print("\(bytes.count) bytes")
  }

  /// Returns the project's texts, each scored by a model that was trained on the other parts of the templates.
  static func byFolds(_ corpus: Corpus) -> [Evaluation.Scored] {
    (0..<Grammar.foldCount).flatMap { fold in
      let model = Trainer.train(corpus.training.filter { $0.fold != fold }) { _ in }
      return Evaluation(model).score(corpus.training.filter { $0.fold == fold })
    }
  }

  /// Returns `rows` of the data folder, each scored by a model that was trained on the other sources and the project's
  /// texts. `whole` is the model of all training data.
  static func bySources(_ corpus: Corpus, _ rows: [Example], _ whole: AdModel) -> [Evaluation.Scored] {
    let sources = Dictionary(grouping: rows) { $0.kind }
    return sources.keys.sorted().flatMap { source in
      let examples = sources[source] ?? []
      let isTrained = examples.first?.source?.isPermissive == true
      let training = corpus.training.filter { $0.kind != source || $0.fold != nil }
      return Evaluation(isTrained ? Trainer.train(training) { _ in } : whole).score(examples)
    }
  }

  private static func evaluate(_ corpus: Corpus, _ mistakes: Int) throws {
    let evaluation = Evaluation(.embedded)
    report(corpus, evaluation, mistakes)
    let folds = byFolds(corpus)
    print(evaluation.table("Own templates, each judged by a model without it", folds) { "\($0.language) \($0.kind)" })
    print(evaluation.table("The same, by language", folds) { $0.language })
    if mistakes > 0 { print("\n" + evaluation.mistakes(folds, mistakes)) }
    let sources = bySources(corpus, corpus.development, .embedded)
    print(evaluation.table("Development data, each source judged by a model without it", sources) { $0.kind })
  }

  private static func report(_ corpus: Corpus, _ evaluation: Evaluation, _ mistakes: Int) {
    let development = evaluation.score(corpus.development)
    let unseen = evaluation.score(corpus.unseen)
    print(evaluation.table("Development data, by language", development) { $0.language })
    print(evaluation.table("Development data, by source", development) { $0.kind })
    print(evaluation.table("Own texts written apart, by language and kind", unseen) { "\($0.language) \($0.kind)" })
    print(evaluation.table("The same, by language", unseen) { $0.language })
    var random = Random(seed: 99)
    let plain = (corpus.unseen + corpus.development).filter { $0.language == "en" || $0.language == "zh" }
    for disguise in Disguise.allCases {
      let disguised = plain.map { example in
        var copy = example
        copy.texts = example.texts.map { disguise.apply(to: $0, &random) }
        return copy
      }
      let scored = evaluation.score(disguised)
      if disguise == Disguise.allCases[0] { print("Disguised, English and Chinese\n\n" + Evaluation.head) }
      print(evaluation.line("\(disguise)", scored))
    }
    print(evaluation.line("no disguise", evaluation.score(plain)))
    if mistakes > 0 {
      print("\n" + evaluation.mistakes(unseen, mistakes))
      print("\n" + evaluation.mistakes(development.filter { ["en", "zh"].contains($0.example.language) }, mistakes))
    }
  }

  /// Prints the largest score that the characters of a short text or a sentence add with the embedded model.
  ///
  /// - Throws: ``TrainingError`` if it exceeds the bound, below which the detector does not read the characters.
  private static func measureCharacters(_ corpus: Corpus) throws {
    let detector = AdDetector()
    let examples = corpus.training + corpus.development + corpus.foreign + corpus.unseen
    let scores = examples.flatMap(\.texts).compactMap { detector.largestCharacterScore(of: $0) }
    let (largest, bound) = (scores.max() ?? 0, AdDetector.maximumCharacterScore)
    print("\nlargest score of the characters of a short text: \(largest), bound: \(bound)")
    guard largest <= bound else {
      throw TrainingError(
        "the characters of a text add \(largest), expected at most \(bound): raise maximumCharacterScore")
    }
  }

  private static func judge(_ file: URL) throws {
    let examples = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
      let fields = line.split(separator: "\t", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 4, let label = Label(rawValue: fields[0]) else { throw TrainingError("not a row: \(line)") }
      return Example(texts: [fields[3]], label: label, language: fields[1], kind: fields[2])
    }
    let evaluation = Evaluation(.embedded)
    let scored = evaluation.score(examples)
    print(evaluation.table("\(file.lastPathComponent)", scored) { "\($0.language) \($0.kind)" })
    print(evaluation.mistakes(scored, 40))
  }

  private static func bench(_ data: URL) throws {
    let lines = try String(contentsOf: data.appending(path: "dev.tsv"), encoding: .utf8).split(separator: "\n")
    let texts = lines.compactMap { $0.split(separator: "\t").last.map(String.init) }
      .filter { (60...120).contains($0.utf8.count) }
    let detector = AdDetector()
    /// Judges all texts, and returns the number of refused ones.
    func pass() -> Int {
      texts.count { text in
        detector.begin()
        detector.add(text)
        return detector.verdict().outcome == .refuse
      }
    }
    // The first pass only warms up.
    var refused = pass()
    var passes = 0
    let clock = ContinuousClock()
    let start = clock.now
    while clock.now - start < .seconds(3) {
      refused = pass()
      passes += 1
    }
    let seconds = Double((clock.now - start) / .milliseconds(1)) / 1000
    let bytes = texts.reduce(0) { $0 + $1.utf8.count } / max(1, texts.count)
    print(
      "\(texts.count) texts of \(bytes) bytes at the mean, \(refused) of them refused: "
        + "\(Int(Double(texts.count * passes) / seconds)) texts a second")
  }
}
