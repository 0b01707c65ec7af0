/// A place in a text that spoke for an ad.
package struct AdEvidence: Sendable, Equatable {
  /// Which of the texts that were judged.
  package var text: Int
  /// Where in it, in bytes of UTF-8.
  package var range: Range<Int>
  /// The place as it was written.
  package var quote: String
  /// What it speaks of, such as `price cut`; `wording` when only its n-grams count.
  package var feature: String
  /// How much of the score goes with it.
  package var weight: Double
}

extension AdDetector {
  /// The places that make `texts` an ad, those of most weight first; none for texts that pass.
  ///
  /// Without these places the rest passes: they are taken out in a few rounds, and the rest is judged anew after each.
  package func explain(_ texts: [String]) -> [AdEvidence] {
    let texts = texts.map { Array($0.utf8) }
    var remains = texts
    // Where each remaining byte was in its text.
    var origins = remains.map { Array(0..<$0.count) }
    var evidence: [AdEvidence] = []
    var score = judge(remains)
    for count in Self.rounds + [.max] where score.outcome != .pass {
      let places =
        count == .max
        ? rest(remains) : heaviestPlaces(remains, count, excess: score.score - Double(model.holdThreshold))
      // From the end on, so that the places before stay where they are.
      var removed: [(place: Place, bytes: [Int])] = []
      for place in places.sorted(by: { ($0.text, $0.range.lowerBound) > ($1.text, $1.range.lowerBound) }) {
        reader.countSteps(remains[place.text].count)
        removed.append((place, Array(origins[place.text][place.range])))
        remains[place.text].removeSubrange(place.range)
        origins[place.text].removeSubrange(place.range)
      }
      let next = judge(remains)
      // What a round took from the score is shared out by what each of its places seemed to weigh.
      let all = places.reduce(0) { $0 + $1.weight }
      for (place, bytes) in removed {
        let part = all > 0 ? place.weight / all : 1 / Double(places.count)
        // A place may close over one that was taken before; each unbroken part is named.
        for range in Self.unbroken(bytes) {
          evidence.append(
            AdEvidence(
              text: place.text, range: range, quote: String(decoding: texts[place.text][range], as: UTF8.self),
              feature: place.feature, weight: (score.score - next.score) * part))
        }
      }
      score = next
    }
    return Self.joined(evidence, texts)
  }

  /// How many places each round takes out at most. Nineteen refused texts of twenty are explained by four, one by one;
  /// after the last round all that is left goes at once. So a text full of offers is judged a bounded number of times.
  private static let rounds = [1, 1, 1, 1, 4, 16]

  private func judge(_ texts: [[UInt8]]) -> AdAssessment {
    begin()
    for text in texts { add(text.span) }
    return verdict()
  }

  private struct Place {
    var text: Int
    var range: Range<Int>
    var feature: String
    /// What it seems to give to the score.
    var weight: Double
  }

  /// Tokens side by side that give to the score, as they were read last, the heaviest first: as many as seem to weigh
  /// `excess` together, at most `count`; all that is left when there is none.
  private func heaviestPlaces(_ texts: [[UInt8]], _ count: Int, excess: Double) -> [Place] {
    var weights = [Float](repeating: 0, count: reader.unitCount + 1)
    func spread(_ weight: Float, _ units: Range<Int32>) {
      reader.countSteps(units.count)
      for unit in units { weights[Int(unit)] += weight / Float(units.count) }
    }
    var grams = 0
    AdFeatures.forEach(reader) { _, _, _ in grams += 1 }
    let scale = model.gramScale / Self.spread(grams)
    AdFeatures.forEach(reader) { gram, start, end in
      let weight = AdModel.weight(gram, in: model.buckets[AdModel.bucket(gram, model.buckets.count)])
      if weight != 0 { spread(scale * Float(weight), start..<end) }
    }
    let matches = matches()
    let concepts = conceptWeights(matches)
    for match in matches { spread(concepts[match.concept.rawValue], match.units) }

    var runs: [(units: Range<Int32>, weight: Float)] = []
    // When nothing speaks for an ad alone, something has to go first all the same.
    var least: (units: Range<Int32>, weight: Float)?
    var isInRun = false
    for index in 0..<reader.tokenCount {
      let token = unsafe reader.tokens[index]
      let weight = weights[Int(token.start)..<Int(token.end)].reduce(0, +)
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
    // Of places of one weight the first in the text.
    let heaviest = runs.sorted { ($0.weight, $1.units.lowerBound) > ($1.weight, $0.units.lowerBound) }.prefix(count)
    var weighed = 0.0
    let places = heaviest.prefix { _, weight in
      defer { weighed += Double(weight) }
      return weighed <= 0 || weighed < excess
    }.compactMap { units, weight in
      let named = matches.filter { $0.units.overlaps(units) && concepts[$0.concept.rawValue] > 0 }
        .max { concepts[$0.concept.rawValue] < concepts[$1.concept.rawValue] }
      return place(units, texts, named?.concept.name ?? "wording", Double(weight))
    }
    return places.isEmpty ? rest(texts) : Self.apart(places)
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

  private func place(_ units: Range<Int32>, _ texts: [[UInt8]], _ feature: String, _ weight: Double) -> Place? {
    var start = reader.place(ofUnit: units.lowerBound)
    var end = reader.place(ofUnit: units.upperBound)
    for (index, text) in texts.enumerated() {
      if start < text.count {
        end = min(end, text.count)
        // Parts of one scalar have one place; and a scalar that is taken is taken whole.
        while end <= start || end < text.count && text[end] & 0xC0 == 0x80 { end += 1 }
        return Place(text: index, range: start..<end, feature: feature, weight: weight)
      }
      start -= text.count
      end -= text.count
    }
    return nil
  }

  /// `places` without those that another one, which weighs more, reaches into: parts of one scalar have one place.
  private static func apart(_ places: [Place]) -> [Place] {
    var apart: [Place] = []
    for place in places where !apart.contains(where: { $0.text == place.text && $0.range.overlaps(place.range) }) {
      apart.append(place)
    }
    return apart
  }

  /// All that is left of each text, which weighs what its size does.
  private func rest(_ texts: [[UInt8]]) -> [Place] {
    texts.indices.filter { !texts[$0].isEmpty }.map {
      Place(text: $0, range: 0..<texts[$0].count, feature: "wording", weight: Double(texts[$0].count))
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

  /// Places side by side as one, the heaviest first.
  private static func joined(_ evidence: [AdEvidence], _ texts: [[UInt8]]) -> [AdEvidence] {
    var places: [AdEvidence] = []
    for next in evidence.sorted(by: { ($0.text, $0.range.lowerBound) < ($1.text, $1.range.lowerBound) }) {
      guard let last = places.last, last.text == next.text, last.range.upperBound == next.range.lowerBound else {
        places.append(next)
        continue
      }
      let range = last.range.lowerBound..<next.range.upperBound
      places[places.count - 1] = AdEvidence(
        text: last.text, range: range, quote: String(decoding: texts[last.text][range], as: UTF8.self),
        feature: last.weight >= next.weight ? last.feature : next.feature, weight: last.weight + next.weight)
    }
    return places.sorted { ($0.weight, $1.text, $1.range.lowerBound) > ($1.weight, $0.text, $0.range.lowerBound) }
  }
}
