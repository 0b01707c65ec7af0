/// Whether a notification advertises (rule A9), how sure that is, and what said so.
///
/// It reads through disguises (``AdReader``), looks for phrases with a meaning (``AdLexicon``) and for n-grams, and adds up
/// their weights (``AdModel``). A verdict allocates nothing. It keeps buffers, so it belongs to one thread at a time.
package final class AdDetector {
  let reader: AdReader
  let lexicon: AdLexicon
  let model: AdModel

  /// A detector with the model that is part of the program.
  package convenience init() { self.init(model: .embedded) }

  package init(model: AdModel) {
    self.model = model
    reader = AdReader(vocabulary: Self.vocabulary)
    lexicon = Self.lexicon
  }

  private static let allPhrases = AdLexicon.phrases + AdLexicon.chinesePhrases
  private static let vocabulary = AdLexicon.vocabulary(allPhrases)
  private static let lexicon = AdLexicon(allPhrases, reader: AdReader(vocabulary: vocabulary))

  /// Changes when what features are changes; see ``AdModel/signature``.
  package static var signature: UInt32 { lexicon.signature }

  /// Judges the texts of one notification: title, subtitle, body, and whatever else a person would read.
  ///
  /// Of more than 8 KiB only the beginning is read.
  package func assess(_ texts: [String]) -> AdAssessment {
    begin()
    for text in texts { add(text) }
    return verdict()
  }

  /// Begins a notification; ``add(_:)`` its texts, then ask for the ``verdict()``.
  package func begin() { reader.reset() }

  /// Adds a text of the notification.
  package func add(_ text: String) { reader.append(text) }

  /// Adds a text of the notification, in UTF-8.
  package func add(_ text: Span<UInt8>) { unsafe text.withUnsafeBufferPointer { unsafe reader.append($0) } }

  /// Judges what was added.
  package func verdict() -> AdAssessment {
    reader.tokenize()
    let score = score()
    return AdAssessment(score: Double(score), outcome: outcome(score))
  }

  private func outcome(_ score: Float) -> AdAssessment.Outcome {
    score >= model.refuseThreshold ? .refuse : score >= model.holdThreshold ? .hold : .pass
  }

  /// The score of the tokens that were read.
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

  /// What the sum of `count` n-grams is divided by, so that a long text is not an ad by its length.
  package static func spread(_ count: Int) -> Float { Float(max(count, AdModel.minimumCount)).squareRoot() }

  /// What the training program learns from: the n-grams of the texts, and the concepts as bits.
  package func features(_ texts: [String]) -> (grams: [UInt32], concepts: UInt64) {
    begin()
    for text in texts { add(text) }
    reader.tokenize()
    var grams: [UInt32] = []
    AdFeatures.forEach(reader) { gram, _, _ in grams.append(gram) }
    return (grams, unsafe lexicon.concepts(reader.tokens, reader.tokenCount))
  }
}

/// What the detector thinks of a notification.
package struct AdAssessment: Sendable, Equatable {
  package enum Outcome: String, Sendable, CaseIterable {
    case pass
    /// Perhaps an ad: only for a person who allowed advertising of the app, or who looks at what was held.
    case hold
    case refuse
  }

  /// Larger is more promotional; about 0 where an ad is as likely as none in the training data.
  package var score: Double
  package var outcome: Outcome
}
