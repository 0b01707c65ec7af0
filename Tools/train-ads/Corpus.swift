import Foundation

/// A text with its label and origin.
struct Example {
  /// Title and body, or a body only.
  var texts: [String]
  var label: Label
  var language: String
  var kind: String
  /// The cost of a mistake on this text, relative to others.
  var weight: Float = 1
  /// The fold of the template, as in ``Grammar/Template/fold``. Nil for rows of the data folder.
  var fold: Int?
  /// The source of a row of the data folder. Nil for texts from the project's templates.
  var source: Source?
}

/// All texts for training and for evaluation.
struct Corpus {
  /// Texts from the project's templates, and rows of the data folder's train.tsv whose source has a permissive license.
  private(set) var training: [Example] = []
  /// Rows of the data folder's dev.tsv, of all sources, for evaluation.
  private(set) var development: [Example] = []
  /// Rows of the data folder's train.tsv whose source has no permissive license: for measurement, not for training.
  private(set) var foreign: [Example] = []
  /// Texts from the project's templates that are not used for training.
  private(set) var unseen: [Example] = []

  /// The weight of fraud, which resembles both advertising and the alerts that it imitates.
  private static let scamWeight: Float = 0.25
  /// The weight of all texts of a template, and their number for training and for evaluation.
  private static let templateWeight: Float = 28
  private static let expansions = 14
  private static let unseenExpansions = 4
  /// The weight of a text of the files `real….txt`, and the number of its variants, if it has slots.
  private static let textWeight: Float = 4
  private static let variants = 3

  /// Reads `train.tsv`, `dev.tsv` and their sources in `data`, and creates texts from the templates in `texts`.
  init(data: URL, texts: URL) throws {
    let rows = try Self.rows(data, "train")
    training = rows.filter { $0.source?.isPermissive == true }
    foreign = rows.filter { $0.source?.isPermissive != true }
    development = try Self.rows(data, "dev")
    let grammar = try Grammar(folder: texts)
    if !grammar.unknownSlots.isEmpty {
      throw TrainingError("slots without words: \(grammar.unknownSlots.sorted().joined(separator: ", "))")
    }
    var random = Random(seed: 20)
    for template in grammar.templates {
      var seen: Set<[String]> = []
      let count = template.fold == nil ? Self.unseenExpansions : template.isText ? Self.variants : Self.expansions
      for _ in 0..<count {
        let texts = grammar.expand(template, &random)
        guard seen.insert(texts).inserted else { continue }
        let example = Example(
          texts: texts, label: template.label, language: template.language, kind: template.kind, fold: template.fold)
        if template.fold == nil { unseen.append(example) } else { training.append(example) }
      }
      if template.fold != nil {
        // The weight of a template does not depend on the number of its texts.
        for index in (training.count - seen.count)..<training.count {
          training[index].weight = (template.isText ? Self.textWeight : Self.templateWeight) / Float(seen.count)
        }
      }
    }
  }

  private static func rows(_ folder: URL, _ name: String) throws -> [Example] {
    let lines = try String(contentsOf: folder.appending(path: "\(name).tsv"), encoding: .utf8).split(separator: "\n")
    let sources = try String(contentsOf: folder.appending(path: "\(name).sources.tsv"), encoding: .utf8)
      .split(separator: "\n")
    guard lines.count == sources.count else { throw TrainingError("\(name).tsv and its sources differ in length") }
    return try zip(lines, sources).map { line, source in
      let fields = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, let label = Label(rawValue: String(fields[0])) else {
        throw TrainingError("\(name).tsv: expected label, language and text, separated by tabs: \(line)")
      }
      let kind = String(source.split(separator: "\t").first ?? "")
      guard let source = Source(rawValue: kind) else {
        throw TrainingError("\(name).sources.tsv: the source \(kind) is not in Source.swift, with its license")
      }
      return Example(
        texts: [String(fields[2])], label: label, language: String(fields[1]), kind: kind,
        weight: label == .scam ? scamWeight : 1, source: source)
    }
  }

  /// Returns `examples` and disguised copies of some of them.
  static func disguised(_ examples: [Example], _ random: inout Random) -> [Example] {
    var result: [Example] = []
    for example in examples {
      result.append(example)
      guard random.chance(2, of: 5) else { continue }
      let disguise = random.pick(Disguise.allCases)
      var copy = example
      copy.texts = example.texts.map { disguise.apply(to: $0, &random) }
      copy.weight *= 0.5
      result.append(copy)
    }
    return result
  }
}
