/// A part of a text that contributed to an ad verdict.
package struct AdEvidence: Sendable, Equatable {
  /// The index of the text.
  package var text: Int
  /// The range in the text, in bytes of UTF-8.
  package var range: Range<Int>
  /// The original text of the range.
  package var quote: String
  /// The concept of the part, such as `price cut`; `wording` if only its n-grams count.
  package var feature: String
  /// The decrease of the score when the part is removed.
  package var weight: Double
}

extension AdDetector {
  /// Returns the parts that make `texts` an ad, the heaviest first; empty for texts that pass.
  ///
  /// The texts pass without these parts: they are removed in a few rounds, and the rest is assessed again after each
  /// round.
  package func explain(_ texts: [String]) -> [AdEvidence] {
    let texts = texts.map { Array($0.utf8) }
    var remains = texts
    // The index of each remaining byte in its original text.
    var origins = remains.map { Array(0..<$0.count) }
    var evidence: [AdEvidence] = []
    var score = judge(remains)
    for count in Self.rounds(texts.reduce(0) { $0 + $1.count }) + [.max] where score.outcome != .pass {
      let passages =
        count == .max
        ? rest(remains) : heaviestPassages(remains, count, excess: score.score - Double(model.holdThreshold))
      // From the end on, so that the earlier ranges stay valid.
      var removed: [(passage: Passage, bytes: [Int])] = []
      for passage in passages.sorted(by: { ($0.text, $0.range.lowerBound) > ($1.text, $1.range.lowerBound) }) {
        reader.countSteps(remains[passage.text].count)
        removed.append((passage, Array(origins[passage.text][passage.range])))
        remains[passage.text].removeSubrange(passage.range)
        origins[passage.text].removeSubrange(passage.range)
      }
      let next = judge(remains)
      // The decrease of the score in a round is divided among its parts in proportion to their estimated weights.
      let all = passages.reduce(0) { $0 + $1.weight }
      for (passage, bytes) in removed {
        let part = all > 0 ? passage.weight / all : 1 / Double(passages.count)
        // A part may enclose a range that was removed before; each contiguous range is reported.
        for range in Self.unbroken(bytes) {
          evidence.append(
            AdEvidence(
              text: passage.text, range: range, quote: String(decoding: texts[passage.text][range], as: UTF8.self),
              feature: passage.feature, weight: (score.score - next.score) * part))
        }
      }
      score = next
    }
    return Self.joined(evidence, texts)
  }

  /// Returns the maximum number of parts that each round removes from texts of `size` bytes. One part at a time, four
  /// parts explain 19 of 20 refused texts. Each round assesses all of the texts, so that long ones have fewer rounds.
  ///
  /// After the last round all of the rest is removed at once. So a text full of offers is assessed a limited number
  /// of times.
  private static func rounds(_ size: Int) -> [Int] { size > longSize ? [4, 16] : [1, 1, 1, 1, 4, 16] }

  private static let longSize = 1_024

  private func judge(_ texts: [[UInt8]]) -> AdAssessment {
    begin()
    for text in texts { add(text.span) }
    return verdict()
  }

  private struct Passage {
    var text: Int
    var range: Range<Int>
    var feature: String
    /// The estimated contribution to the score.
    var weight: Double
  }

  /// Returns runs of adjacent tokens that contribute to the score, the heaviest first.
  ///
  /// Their estimated weights reach `excess` together, with at most `count` runs; the whole rest if no run contributes.
  /// Reads the tokens of the last assessment.
  private func heaviestPassages(_ texts: [[UInt8]], _ count: Int, excess: Double) -> [Passage] {
    var weights = UnitWeights(count: reader.unitCount)
    forEachWeight { weights.add($0, to: $1) }
    let matches = matches()
    let concepts = conceptWeights(matches)
    for match in matches { weights.add(concepts[match.concept.rawValue], to: match.units) }
    weights.sum()
    reader.countSteps(reader.unitCount)

    var runs: [(units: Range<Int32>, weight: Float)] = []
    // If no single token contributes to an ad verdict, the one with the highest weight is removed first.
    var least: (units: Range<Int32>, weight: Float)?
    var isInRun = false
    for index in 0..<reader.tokenCount {
      let token = unsafe reader.tokens[index]
      let weight = weights.weight(of: token.start..<token.end)
      guard token.kind != .boundary, weight > 0 else {
        isInRun = false
        if token.kind != .boundary, least.map({ $0.weight < weight }) ?? true {
          least = (token.start..<token.end, weight)
        }
        continue
      }
      if isInRun, let last = runs.last {
        runs[runs.count - 1] = (last.units.lowerBound..<token.end, last.weight + weight)
      } else {
        runs.append((token.start..<token.end, weight))
      }
      isInRun = true
    }
    if runs.isEmpty, let least { runs = [least] }
    // Among parts of the same weight the first in the text.
    let heaviest = runs.sorted { ($0.weight, $1.units.lowerBound) > ($1.weight, $0.units.lowerBound) }.prefix(count)
    var weighed = 0.0
    let passages = heaviest.prefix { _, weight in
      defer { weighed += Double(weight) }
      return weighed <= 0 || weighed < excess
    }.compactMap { units, weight in
      let named = matches.filter { $0.units.overlaps(units) && concepts[$0.concept.rawValue] > 0 }
        .max { concepts[$0.concept.rawValue] < concepts[$1.concept.rawValue] }
      return passage(units, texts, named?.concept.name ?? "wording", Double(weight))
    }
    return passages.isEmpty ? rest(texts) : Self.apart(passages)
  }

  /// Calls `body` with the contribution of each n-gram to the score, and its units. Each occurrence gets the whole
  /// contribution, because all of them have to be removed.
  private func forEachWeight(_ body: (Float, Range<Int32>) -> Void) {
    var count = 0
    seen.removeAll()
    AdFeatures.forEach(reader) { gram, _, _ in if seen.insert(gram) { count += 1 } }
    let scale = model.gramScale / Self.spread(count)
    let bucketCount = model.buckets.count
    unsafe model.buckets.withUnsafeBufferPointer { buckets in
      AdFeatures.forEach(reader) { gram, start, end in
        let weight = unsafe AdModel.weight(gram, in: buckets[AdModel.bucket(gram, bucketCount)])
        if weight != 0 { body(scale * Float(weight), start..<end) }
      }
    }
    count = 0
    seen.removeAll()
    AdCharacters.forEach(reader) { gram, _, _ in if seen.insert(gram) { count += 1 } }
    let characterScale = model.characterScale / Self.spread(count, atLeast: AdModel.minimumCharacterCount)
    AdCharacters.forEach(reader) { gram, start, end in
      let weight = model.characters[Int(gram)]
      if weight != 0, start < end { body(characterScale * Float(weight), start..<end) }
    }
  }

  /// The contribution of each unit to the score. Each range costs the same, whatever its length.
  private struct UnitWeights {
    /// The integer that stands for 1. Sums of integers are exact, so that a unit without a contribution has the weight 0.
    private static let one: Float = 16_777_216
    /// The differences between units, until ``sum()``; then the sums of the weights of all units before each one.
    private var values: [Int64]

    init(count: Int) { values = Array(repeating: 0, count: count + 2) }

    /// Distributes a weight evenly among units.
    mutating func add(_ weight: Float, to units: Range<Int32>) {
      guard !units.isEmpty else { return }
      let part = Int64(weight / Float(units.count) * UnitWeights.one)
      values[Int(units.lowerBound) + 1] += part
      values[Int(units.upperBound) + 1] -= part
    }

    /// Computes the sums, after all weights were added.
    mutating func sum() {
      var (difference, sum): (Int64, Int64) = (0, 0)
      for index in values.indices {
        difference += values[index]
        sum += difference
        values[index] = sum
      }
    }

    func weight(of units: Range<Int32>) -> Float {
      Float(values[Int(units.upperBound)] - values[Int(units.lowerBound)]) / UnitWeights.one
    }
  }

  /// A phrase in the text, and the range of its units.
  private struct Match {
    var concept: AdConcept
    var units: Range<Int32>
  }

  private func matches() -> [Match] {
    var matches: [Match] = []
    lexicon.forEach(reader) { bits, start, end in
      let units = unsafe reader.tokens[start].start..<reader.tokens[end - 1].end
      for concept in AdConcept.allCases where bits >> UInt64(concept.rawValue) & 1 == 1 {
        matches.append(Match(concept: concept, units: units))
      }
    }
    return matches
  }

  /// Returns the contribution of each phrase of a concept: the weight of the concept and half of the weights of its
  /// pairs, divided by the number of its phrases.
  private func conceptWeights(_ matches: [Match]) -> [Float] {
    var counts = [Int](repeating: 0, count: AdModel.conceptCapacity)
    for match in matches { counts[match.concept.rawValue] += 1 }
    return counts.indices.map { concept in
      guard counts[concept] > 0 else { return 0 }
      var sum = Float(model.concepts[concept])
      for other in counts.indices where other != concept && counts[other] > 0 {
        sum += Float(model.pairs[AdModel.pair(min(concept, other), max(concept, other))]) / 2
      }
      return model.conceptScale * sum / Float(counts[concept])
    }
  }

  private func passage(_ units: Range<Int32>, _ texts: [[UInt8]], _ feature: String, _ weight: Double) -> Passage? {
    var start = reader.offset(ofUnit: units.lowerBound)
    var end = reader.offset(ofUnit: units.upperBound)
    // Units that are shown from right to left have decreasing positions.
    let last = reader.offset(ofUnit: units.upperBound - 1)
    if last < start { (start, end) = (last, start + 1) }
    for (index, text) in texts.enumerated() {
      if start < text.count {
        end = min(end, text.count)
        // Parts of one scalar have the same position; a scalar is removed as a whole.
        while end <= start || end < text.count && text[end] & 0xC0 == 0x80 { end += 1 }
        return Passage(text: index, range: start..<end, feature: feature, weight: weight)
      }
      start -= text.count
      end -= text.count
    }
    return nil
  }

  /// Removes each passage that overlaps a heavier one, because parts of one scalar have the same position.
  private static func apart(_ passages: [Passage]) -> [Passage] {
    var apart: [Passage] = []
    for passage in passages
    where !apart.contains(where: { $0.text == passage.text && $0.range.overlaps(passage.range) }) {
      apart.append(passage)
    }
    return apart
  }

  /// Returns the rest of each text, with its size as its weight.
  private func rest(_ texts: [[UInt8]]) -> [Passage] {
    texts.indices.filter { !texts[$0].isEmpty }.map {
      Passage(text: $0, range: 0..<texts[$0].count, feature: "wording", weight: Double(texts[$0].count))
    }
  }

  private static func unbroken(_ positions: [Int]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for position in positions {
      if let last = ranges.last, last.upperBound == position {
        ranges[ranges.count - 1] = last.lowerBound..<(position + 1)
      } else {
        ranges.append(position..<(position + 1))
      }
    }
    return ranges
  }

  /// Joins adjacent parts, and returns them with the heaviest first.
  private static func joined(_ evidence: [AdEvidence], _ texts: [[UInt8]]) -> [AdEvidence] {
    var passages: [AdEvidence] = []
    for next in evidence.sorted(by: { ($0.text, $0.range.lowerBound) < ($1.text, $1.range.lowerBound) }) {
      guard let last = passages.last, last.text == next.text, last.range.upperBound == next.range.lowerBound else {
        passages.append(next)
        continue
      }
      let range = last.range.lowerBound..<next.range.upperBound
      passages[passages.count - 1] = AdEvidence(
        text: last.text, range: range, quote: String(decoding: texts[last.text][range], as: UTF8.self),
        feature: last.weight >= next.weight ? last.feature : next.feature, weight: last.weight + next.weight)
    }
    return passages.sorted { ($0.weight, $1.text, $1.range.lowerBound) > ($1.weight, $0.text, $0.range.lowerBound) }
  }
}
