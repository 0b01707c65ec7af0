/// Detects advertising in notifications (rule A9), with a score and the evidence.
///
/// It reads through disguises (``AdReader``), finds phrases with a meaning (``AdLexicon``) and n-grams, and adds up
/// their weights (``AdModel``). A verdict allocates no memory. The detector keeps buffers, so only one thread may use
/// it at a time.
package final class AdDetector {
  let reader: AdReader
  let lexicon: AdLexicon
  let model: AdModel

  /// Makes a detector with the model that is embedded in the program.
  package convenience init() { self.init(model: .embedded) }

  package init(model: AdModel) {
    self.model = model
    reader = AdReader(vocabulary: Self.vocabulary)
    lexicon = Self.lexicon
  }

  private static let allPhrases = AdLexicon.phrases + AdLexicon.otherPhrases + AdLexicon.chinesePhrases
  private static let vocabulary = AdLexicon.vocabulary(allPhrases)
  private static let lexicon = AdLexicon(allPhrases, reader: AdReader(vocabulary: vocabulary))

  /// A checksum that changes when the features change; see ``AdModel/signature``.
  package static var signature: UInt32 { lexicon.signature }

  /// Assesses the texts of one notification: title, subtitle, body, and all other texts that a user would read.
  ///
  /// Only the first 8 KiB of longer texts are read.
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
    let score = score()
    return AdAssessment(score: Double(score), outcome: outcome(score))
  }

  private func outcome(_ score: Float) -> AdAssessment.Outcome {
    score >= model.refuseThreshold ? .refuse : score >= model.holdThreshold ? .hold : .pass
  }

  private func score() -> Float {
    var sum = 0
    var count = 0
    let bucketCount = model.buckets.count
    unsafe model.buckets.withUnsafeBufferPointer { buckets in
      AdFeatures.forEach(reader) { gram, _, _ in
        sum &+= unsafe AdModel.weight(gram, in: buckets[AdModel.bucket(gram, bucketCount)])
        count &+= 1
      }
    }
    let concepts = unsafe lexicon.concepts(reader.tokens, reader.tokenCount)
    return model.bias + model.gramScale * Float(sum) / Self.spread(count)
      + model.conceptScale * Float(model.sum(ofConcepts: concepts))
  }

  /// Returns the divisor for the sum of `count` n-grams, so that a long text does not become an ad by its length.
  package static func spread(_ count: Int) -> Float { Float(max(count, AdModel.minimumCount)).squareRoot() }

  /// Returns the features for the training program: the n-grams of the texts, and the concepts as bits.
  package func features(_ texts: [String]) -> (grams: [UInt32], concepts: UInt64) {
    begin()
    for text in texts { add(text) }
    reader.tokenize()
    var grams: [UInt32] = []
    AdFeatures.forEach(reader) { gram, _, _ in grams.append(gram) }
    return (grams, unsafe lexicon.concepts(reader.tokens, reader.tokenCount))
  }
}

package struct AdAssessment: Sendable, Equatable {
  package enum Outcome: String, Sendable, CaseIterable {
    case pass
    /// Possibly an ad: only for users who have allowed advertising from the app, or who look at suppressed pushes.
    case hold
    case refuse
  }

  /// The score: a larger one is more promotional. At about 0, ads and other texts are equally likely in the training
  /// data.
  package var score: Double
  package var outcome: Outcome
}
