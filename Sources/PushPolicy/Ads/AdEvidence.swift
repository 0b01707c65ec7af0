/// A place in a text that spoke for an ad.
public struct AdEvidence: Sendable, Equatable {
  /// Which of the texts that were judged.
  public var text: Int
  /// Where in it, in bytes of UTF-8.
  public var range: Range<Int>
  /// The place as it was written.
  public var quote: String
  /// What it speaks of, such as `price cut`; `wording` when only its n-grams count.
  public var feature: String
  /// How much of the score goes with it.
  public var weight: Double
}

extension AdDetector {
  /// The places that make `texts` an ad, those of most weight first; none for texts that pass.
  ///
  /// Without these places the rest passes: they are taken out one by one, and the rest is judged anew each time.
  public func explain(_ texts: [String]) -> [AdEvidence] {
    var remains = texts.map { Array($0.utf8) }
    // Where each remaining byte was in its text.
    var origins = remains.map { Array(0..<$0.count) }
    var evidence: [AdEvidence] = []
    var score = judge(remains)
    var steps = 0
    while score.outcome != .pass, let place = steps < Self.maximumSteps ? heaviestPlace(remains) : rest(remains) {
      steps += 1
      let removed = origins[place.text][place.range]
      remains[place.text].removeSubrange(place.range)
      origins[place.text].removeSubrange(place.range)
      let rest = judge(remains)
      let weight = score.score - rest.score
      score = rest
      // A place may close over one that was taken before; each unbroken part is named.
      for part in Self.unbroken(removed) {
        evidence.append(
          AdEvidence(
            text: place.text, range: part,
            quote: String(decoding: Array(texts[place.text].utf8)[part], as: UTF8.self), feature: place.feature,
            weight: weight))
      }
    }
    return Self.joined(evidence, texts)
  }

  /// After so many places the whole rest of a text is named at once: a text full of offers costs bounded time.
  private static let maximumSteps = 24

  private func judge(_ texts: [[UInt8]]) -> AdAssessment {
    begin()
    for text in texts { add(text.span) }
    return verdict()
  }

  private struct Place {
    var text: Int
    var range: Range<Int>
    var feature: String
  }

  /// The tokens side by side that give the score most, as they were read last; nil when nothing is left.
  private func heaviestPlace(_ texts: [[UInt8]]) -> Place? {
    var weights = [Float](repeating: 0, count: reader.unitCount + 1)
    func spread(_ weight: Float, _ units: Range<Int32>) {
      for unit in units { weights[Int(unit)] += weight / Float(units.count) }
    }
    var count = 0
    AdFeatures.forEach(reader) { _, _, _ in count += 1 }
    let scale = model.gramScale / Self.spread(count)
    AdFeatures.forEach(reader) { gram, start, end in
      let weight = AdModel.weight(gram, in: model.buckets[AdModel.bucket(gram, model.buckets.count)])
      if weight != 0 { spread(scale * Float(weight), start..<end) }
    }
    let matches = matches()
    let concepts = conceptWeights(matches)
    for match in matches { spread(concepts[match.concept.rawValue], match.units) }

    var best: (units: Range<Int32>, weight: Float)?
    var run: (units: Range<Int32>, weight: Float)?
    for index in 0..<reader.tokenCount {
      let token = unsafe reader.tokens[index]
      let weight = weights[Int(token.start)..<Int(token.end)].reduce(0, +)
      if token.kind == .boundary || weight <= 0 {
        run = nil
        // When nothing speaks for an ad alone, something has to go first all the same.
        if token.kind != .boundary, best.map({ $0.weight < weight }) ?? true {
          best = (token.start..<token.end, weight)
        }
        continue
      }
      let longer = (run?.units.lowerBound ?? token.start)..<token.end
      run = (longer, (run?.weight ?? 0) + weight)
      if let run, best.map({ $0.weight < run.weight }) ?? true { best = run }
    }
    guard let best else { return rest(texts) }
    let named = matches.filter { $0.units.overlaps(best.units) && concepts[$0.concept.rawValue] > 0 }
      .max { concepts[$0.concept.rawValue] < concepts[$1.concept.rawValue] }
    return place(best.units, texts, named?.concept.name ?? "wording")
  }

  /// A phrase that was found, by the units that it stands on.
  private struct Match {
    var concept: AdConcept
    var units: Range<Int32>
  }

  private func matches() -> [Match] {
    var matches: [Match] = []
    unsafe lexicon.forEach(reader.tokens, reader.tokenCount) { bits, start, end in
      let units = unsafe reader.tokens[start].start..<reader.tokens[end - 1].end
      for concept in AdConcept.allCases where bits >> UInt64(concept.rawValue) & 1 == 1 {
        matches.append(Match(concept: concept, units: units))
      }
    }
    return matches
  }

  /// What each phrase of a concept gives: its weight and half of that of its pairs, by the number of its phrases.
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

  private func place(_ units: Range<Int32>, _ texts: [[UInt8]], _ feature: String) -> Place? {
    var start = reader.place(ofUnit: units.lowerBound)
    var end = reader.place(ofUnit: units.upperBound)
    for (index, text) in texts.enumerated() {
      if start < text.count {
        end = min(end, text.count)
        // Parts of one scalar have one place; and a scalar that is taken is taken whole.
        while end <= start || end < text.count && text[end] & 0xC0 == 0x80 { end += 1 }
        return Place(text: index, range: start..<end, feature: feature)
      }
      start -= text.count
      end -= text.count
    }
    return rest(texts)
  }

  /// All of the first text that has anything left.
  private func rest(_ texts: [[UInt8]]) -> Place? {
    texts.firstIndex { !$0.isEmpty }.map { Place(text: $0, range: 0..<texts[$0].count, feature: "wording") }
  }

  private static func unbroken(_ positions: ArraySlice<Int>) -> [Range<Int>] {
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

  /// Places side by side as one, the heaviest first.
  private static func joined(_ evidence: [AdEvidence], _ texts: [String]) -> [AdEvidence] {
    var places: [AdEvidence] = []
    for next in evidence.sorted(by: { ($0.text, $0.range.lowerBound) < ($1.text, $1.range.lowerBound) }) {
      guard let last = places.last, last.text == next.text, last.range.upperBound == next.range.lowerBound else {
        places.append(next)
        continue
      }
      let range = last.range.lowerBound..<next.range.upperBound
      places[places.count - 1] = AdEvidence(
        text: last.text, range: range, quote: String(decoding: Array(texts[last.text].utf8)[range], as: UTF8.self),
        feature: last.weight >= next.weight ? last.feature : next.feature, weight: last.weight + next.weight)
    }
    return places.sorted { ($0.weight, $1.text, $1.range.lowerBound) > ($1.weight, $0.text, $0.range.lowerBound) }
  }
}
