/// Detects advertising in notifications (rule A9), with a score and the evidence.
///
/// It removes disguises (``AdReader``), finds phrases with a meaning (``AdLexicon``) and n-grams, and adds up their weights
/// (``AdModel``). A verdict allocates no memory. The detector keeps buffers, so only one thread may use it at a time.
package final class AdDetector {
  let reader: AdReader
  let lexicon: AdLexicon
  let model: AdModel
  let seen = AdSeen()

  /// Makes a detector with the model that is embedded in the program.
  package convenience init() { self.init(model: .embedded) }

  package init(model: AdModel) {
    self.model = model
    reader = AdReader(vocabulary: Self.vocabulary)
    lexicon = Self.lexicon
  }

  private static let allPhrases =
    AdLexicon.phrases + AdLexicon.otherPhrases + AdLexicon.foreignPhrases + AdLexicon.foreignOtherPhrases
  private static let vocabulary = AdLexicon.vocabulary(AdLexicon.phrases + AdLexicon.chinesePhrases)
  private static let lexicon = AdLexicon(
    allPhrases, chinese: AdLexicon.chinesePhrases, reader: AdReader(vocabulary: vocabulary))

  /// A checksum that changes when the features change; see ``AdModel/signature``.
  package static var signature: UInt32 { lexicon.signature }

  /// Assesses the texts of one notification: title, subtitle, body, and all other texts that a user would read.
  ///
  /// Only the first 8 KiB of all texts together are read.
  package func assess(_ texts: [String]) -> AdAssessment {
    begin()
    for text in texts { add(text) }
    return verdict()
  }

  /// Begins a notification: call ``add(_:)`` for each of its texts, and then ``verdict()``.
  package func begin() { reader.reset() }

  package func add(_ text: String) { reader.append(text) }

  /// Adds a text of the notification, in UTF-8.
  package func add(_ text: Span<UInt8>) { unsafe text.withUnsafeBufferPointer { unsafe reader.append($0) } }

  /// Assesses the texts that were added.
  package func verdict() -> AdAssessment {
    reader.tokenize()
    let score = tokenScore() + characterScore()
    return AdAssessment(score: Double(score), outcome: outcome(score))
  }

  /// Returns the outcome of the verdict on the texts that were added, or `pass` if it is below `outcome`.
  ///
  /// Reads the characters, which take most of the time of a verdict, only if they can decide.
  func outcome(from least: AdAssessment.Outcome) -> AdAssessment.Outcome {
    reader.tokenize()
    let score = tokenScore()
    let threshold = least == .refuse ? model.refuseThreshold : model.holdThreshold
    let isShort = reader.unitCount <= Self.shortSize
    if isShort, score < threshold - Self.maximumCharacterScore { return .pass }
    let outcome = outcome(score + characterScore())
    return least == .refuse && outcome == .hold ? .pass : outcome
  }

  /// The assumed bound of ``characterScore()`` for texts of at most ``shortSize`` units. `make measure-ads` prints the
  /// largest score of the labeled texts, and fails if it exceeds the bound.
  package static let maximumCharacterScore: Float = 7
  /// The maximum number of units of texts to which ``maximumCharacterScore`` applies. The characters of longer texts are
  /// always read.
  static let shortSize = 512

  private func outcome(_ score: Float) -> AdAssessment.Outcome {
    score >= model.refuseThreshold ? .refuse : score >= model.holdThreshold ? .hold : .pass
  }

  /// The concepts of the texts of the last verdict, as bits.
  private(set) var concepts: UInt64 = 0

  /// Returns the score without the characters.
  private func tokenScore() -> Float {
    concepts = lexicon.concepts(reader)
    return model.bias + gramScore() + model.conceptScale * Float(model.sum(ofConcepts: concepts))
  }

  private func gramScore() -> Float {
    var sum = 0
    var count = 0
    let bucketCount = model.buckets.count
    seen.removeAll()
    unsafe model.buckets.withUnsafeBufferPointer { buckets in
      AdFeatures.forEach(reader) { gram, _, _ in
        guard seen.insert(gram) else { return }
        sum &+= unsafe AdModel.weight(gram, in: buckets[AdModel.bucket(gram, bucketCount)])
        count &+= 1
      }
    }
    return model.gramScale * Float(sum) / Self.spread(count)
  }

  /// Returns the part of the score that the characters add.
  func characterScore() -> Float {
    var sum = 0
    var count = 0
    seen.removeAll()
    unsafe model.characters.withUnsafeBufferPointer { weights in
      AdCharacters.forEach(reader) { gram, _, _ in
        guard seen.insert(gram) else { return }
        sum &+= unsafe Int(weights[Int(gram)])
        count &+= 1
      }
    }
    return model.characterScale * Float(sum) / Self.spread(count, atLeast: AdModel.minimumCharacterCount)
  }

  /// Returns the divisor for the sum of `count` n-grams, so that a text does not become an ad by its length alone.
  package static func spread(_ count: Int, atLeast minimum: Int = AdModel.minimumCount) -> Float {
    Float(max(count, minimum)).squareRoot()
  }

  /// The features of texts for the training program.
  package struct Features {
    /// The distinct n-grams of tokens and letters.
    package var grams: [UInt32] = []
    /// The distinct n-grams of characters.
    package var characters: [UInt32] = []
    /// The concepts as bits.
    package var concepts: UInt64 = 0
  }

  package func features(_ texts: [String]) -> Features {
    begin()
    for text in texts { add(text) }
    reader.tokenize()
    var features = Features(concepts: lexicon.concepts(reader))
    seen.removeAll()
    AdFeatures.forEach(reader) { gram, _, _ in if seen.insert(gram) { features.grams.append(gram) } }
    seen.removeAll()
    AdCharacters.forEach(reader) { gram, _, _ in if seen.insert(gram) { features.characters.append(gram) } }
    return features
  }
}

package struct AdAssessment: Sendable, Equatable {
  package enum Outcome: String, Sendable, CaseIterable {
    case pass
    /// Possibly an ad: its alert and sound are removed for users who have not allowed advertising of the app.
    case hold
    case refuse
  }

  /// The score: a larger one is more promotional. At about 0, ads and other texts are equally likely in the training
  /// data.
  package var score: Double
  package var outcome: Outcome
}
