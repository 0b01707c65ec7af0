import PushPolicy

/// Logistic regression over n-grams, concepts and pairs of concepts, in two rounds: over all n-grams, to select the
/// most useful ones, then over these alone. It is single-threaded and in a fixed order, so that the result is
/// reproducible.
struct Trainer {
  /// An example as numbers.
  private struct Row {
    var grams: [Int32]
    var scale: Float
    var characters: [Int32]
    var characterScale: Float
    var concepts: [Int32]
    var target: Float
    var weight: Float
  }

  /// Weights with the sums of their squared gradients, which determine the step sizes (AdaGrad).
  private struct Weights {
    var values: [Float]
    var squares: [Float]

    init(count: Int) {
      values = Array(repeating: 0, count: count)
      squares = Array(repeating: 1e-2, count: count)
    }
  }

  /// The minimum number of texts with an n-gram. Rarer n-grams are ignored.
  private static let minimumFrequency = 2
  private static let bucketCount = 60_000
  private static let rate: Float = 0.12
  private static let gramDecay: Float = 4e-4
  private static let conceptDecay: Float = 2e-5
  private static let rounds = (first: 6, second: 6)
  /// The training of the second model, and its weight in the score.
  private static let characterRounds = 8
  private static let characterDecay: Float = 1e-4
  private static let characterWeight: Float = 0.8

  static func train(_ examples: [Example], log: (String) -> Void) -> AdModel {
    let detector = AdDetector(model: .blank)
    var random = Random(seed: 6)
    let examples = Corpus.disguised(examples, &random)
    let features = examples.map { detector.features($0.texts) }

    var frequencies: [UInt32: Int32] = [:]
    for feature in features { for gram in Set(feature.grams) { frequencies[gram, default: 0] += 1 } }
    let known = frequencies.filter { $0.value >= minimumFrequency }.keys.sorted()
    log("\(examples.count) texts, \(frequencies.count) n-grams, \(known.count) of them in \(minimumFrequency) or more")
    var places = Dictionary(uniqueKeysWithValues: zip(known, known.indices.map(Int32.init)))

    func rows() -> [Row] {
      zip(examples, features).map { example, feature in
        Row(
          grams: feature.grams.compactMap { places[$0] }, scale: 1 / AdDetector.spread(feature.grams.count),
          characters: feature.characters.map(Int32.init),
          characterScale: 1 / AdDetector.spread(feature.characters.count, atLeast: AdModel.minimumCharacterCount),
          concepts: conceptPlaces(feature.concepts), target: example.label == .ok ? 0 : 1, weight: example.weight)
      }
    }

    var grams = Weights(count: known.count)
    var concepts = Weights(count: AdModel.conceptCapacity + AdModel.pairCount)
    var bias: Float = -1
    learn(rows(), &grams, &concepts, &bias, rounds.first, &random, log)

    // The most useful n-grams have large weights and are frequent.
    let worth = known.indices.map {
      grams.values[$0].magnitude * Float(min(frequencies[known[$0]] ?? 0, 60)).squareRoot()
    }
    var filled = [[UInt32]](repeating: [], count: bucketCount)
    places = [:]
    for index in known.indices.sorted(by: { (worth[$0], known[$1]) > (worth[$1], known[$0]) }) where worth[index] > 0 {
      let gram = known[index]
      let bucket = AdModel.bucket(gram, bucketCount)
      guard filled[bucket].count < 4, !filled[bucket].contains(where: { $0 & 0xFF == gram & 0xFF }) else { continue }
      filled[bucket].append(gram)
      places[gram] = Int32(index)
    }
    log("\(places.count) n-grams fit into the buckets")
    for index in known.indices where places[known[index]] == nil { grams.values[index] = 0 }
    let selected = rows()
    learn(selected, &grams, &concepts, &bias, rounds.second, &random, log)

    var model = quantized(filled, places, grams.values, concepts.values, bias)
    addCharacters(selected, to: &model, &random, log)
    return model
  }

  private static func conceptPlaces(_ bits: UInt64) -> [Int32] {
    let present = (0..<AdModel.conceptCapacity).filter { bits >> UInt64($0) & 1 == 1 }
    var places = present.map(Int32.init)
    for high in present { for low in present where low < high { places.append(Int32(64 + AdModel.pair(low, high))) } }
    return places
  }

  private static func learn(
    _ rows: [Row], _ grams: inout Weights, _ concepts: inout Weights, _ bias: inout Float, _ rounds: Int,
    _ random: inout Random, _ log: (String) -> Void
  ) {
    var order = Array(rows.indices)
    for round in 1...rounds {
      order.shuffle(using: &random)
      let rate = Self.rate / Float(round).squareRoot()
      var loss: Float = 0
      for index in order {
        let row = rows[index]
        var sum: Float = 0
        for gram in row.grams { sum += grams.values[Int(gram)] }
        var score = bias + sum * row.scale
        for concept in row.concepts { score += concepts.values[Int(concept)] }
        let error = (probability(score) - row.target) * row.weight
        loss += error.magnitude
        let step = error * row.scale
        for gram in row.grams {
          let place = Int(gram)
          let gradient = step + gramDecay * grams.values[place]
          grams.squares[place] += gradient * gradient
          grams.values[place] -= rate * gradient / grams.squares[place].squareRoot()
        }
        for concept in row.concepts {
          let place = Int(concept)
          let decay = place < 64 ? conceptDecay : conceptDecay * 20
          let gradient = error + decay * concepts.values[place]
          concepts.squares[place] += gradient * gradient
          concepts.values[place] -= rate * gradient / concepts.squares[place].squareRoot()
        }
        bias -= 0.002 * error
      }
      log("round \(round): mean error \(loss / Float(rows.count))")
    }
  }

  /// Trains the second model, of n-grams of characters alone, and adds it to `model` with its fixed weight.
  private static func addCharacters(
    _ rows: [Row], to model: inout AdModel, _ random: inout Random, _ log: (String) -> Void
  ) {
    var weights = Weights(count: AdModel.characterCount)
    var bias: Float = -1
    var order = Array(rows.indices)
    for round in 1...characterRounds {
      order.shuffle(using: &random)
      let rate = Self.rate / Float(round).squareRoot()
      var loss: Float = 0
      for index in order {
        let row = rows[index]
        var sum: Float = 0
        for place in row.characters { sum += weights.values[Int(place)] }
        let error = (probability(bias + sum * row.characterScale) - row.target) * row.weight
        loss += error.magnitude
        let step = error * row.characterScale
        for place in row.characters {
          let place = Int(place)
          let gradient = step + characterDecay * weights.values[place]
          weights.squares[place] += gradient * gradient
          weights.values[place] -= rate * gradient / weights.squares[place].squareRoot()
        }
        bias -= 0.002 * error
      }
      log("characters, round \(round): mean error \(loss / Float(rows.count))")
    }
    let sizes = weights.values.map(\.magnitude).sorted()
    let scale = max(sizes[sizes.count * 999 / 1000], .leastNormalMagnitude) / 127
    model.characters = weights.values.map { Int8(max(-127, min(127, ($0 / scale).rounded()))) }
    model.characterScale = scale * characterWeight
    model.bias += bias * characterWeight
  }

  private static func quantized(
    _ filled: [[UInt32]], _ places: [UInt32: Int32], _ grams: [Float], _ concepts: [Float], _ bias: Float
  ) -> AdModel {
    let weights = places.values.map { grams[Int($0)].magnitude }.sorted()
    // A few very large weights must not reduce the precision of the others.
    let gramScale = (weights.isEmpty ? 1 : weights[min(weights.count - 1, weights.count * 999 / 1000)]) / 127
    let conceptScale = (concepts[64...].map(\.magnitude).max() ?? 1) / 127
    let buckets = filled.map { lanes in
      var bucket: UInt64 = 0
      for (lane, gram) in lanes.enumerated() {
        let weight = places[gram].map { grams[Int($0)] / gramScale } ?? 0
        let byte = UInt8(bitPattern: Int8(max(-127, min(127, weight.rounded()))))
        bucket |= (UInt64(byte) << 8 | UInt64(gram & 0xFF)) << UInt64(lane * 16)
      }
      return bucket
    }
    return AdModel(
      signature: AdDetector.signature, gramScale: gramScale, characterScale: 0, conceptScale: conceptScale,
      bias: bias,
      concepts: concepts[..<64].map { Int16(max(-32_767, min(32_767, ($0 / conceptScale).rounded()))) },
      pairs: concepts[64...].map { Int8(max(-127, min(127, ($0 / conceptScale).rounded()))) }, buckets: buckets,
      characters: Array(repeating: 0, count: AdModel.characterCount))
  }

  /// Returns the logistic function, computed with arithmetic only: the C library's `exp` may differ in its last bit
  /// between versions.
  static func probability(_ score: Float) -> Float {
    let power = Double(max(-30, min(30, -score))) * 1.442_695_040_888_963_4
    let whole = power.rounded()
    let rest = (power - whole) * 0.693_147_180_559_945_3
    var term = 1.0
    var sum = 1.0
    for index in 1...9 {
      term *= rest / Double(index)
      sum += term
    }
    let exponential = sum * Double(sign: .plus, exponent: Int(whole), significand: 1)
    return Float(1 / (1 + exponential))
  }
}

extension AdModel {
  /// A model without any weights.
  static let blank = AdModel(
    signature: 0, gramScale: 0, characterScale: 0, conceptScale: 0, bias: 0,
    concepts: Array(repeating: 0, count: conceptCapacity),
    pairs: Array(repeating: 0, count: pairCount), buckets: [0],
    characters: Array(repeating: 0, count: AdModel.characterCount))
}
