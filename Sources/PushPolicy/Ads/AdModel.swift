internal import CAdModel

/// The weights of the detector, which the training program writes.
///
/// The format is little-endian: `"PGAD"`; the format version and the number of concepts (16 bits each); the signature
/// of the lexicon, the number of buckets and the number of character weights (32 bits each); the scales of the n-gram,
/// the character and the concept weights, the bias, and the two thresholds (32-bit floats). Then a 16-bit weight for
/// each of ``conceptCapacity`` concepts, an 8-bit weight for each pair of them, the buckets, and the 8-bit character
/// weights. A bucket has four n-grams, each with the low 8 bits of its hash, and a weight. An n-gram without an entry
/// has the weight 0. All n-grams of characters with the same hash share a weight.
package struct AdModel: Sendable {
  package static let version: UInt16 = 2
  package static let conceptCapacity = 64
  package static let pairCount = conceptCapacity * (conceptCapacity - 1) / 2
  /// The number of weights of n-grams of characters: one for each value of their 18-bit hash.
  package static let characterCount = 1 << 18
  package static let headerSize = 44
  /// The maximum size of a model in bytes.
  package static let maximumSize = 1024 * 1024
  /// The minimum number of n-grams for the weighting: a text with fewer is weighted as if it had this many, so that
  /// one word has little influence.
  package static let minimumCount = 16
  /// The same for the n-grams of characters.
  package static let minimumCharacterCount = 64

  package var signature: UInt32
  package var gramScale: Float
  package var characterScale: Float
  package var conceptScale: Float
  package var bias: Float
  /// The lowest score that needs the user's consent.
  package var holdThreshold: Float
  /// The lowest score that is refused.
  package var refuseThreshold: Float
  package var concepts: [Int16]
  package var pairs: [Int8]
  package var buckets: [UInt64]
  package var characters: [Int8]

  package init(
    signature: UInt32, gramScale: Float, characterScale: Float, conceptScale: Float, bias: Float, concepts: [Int16],
    pairs: [Int8], buckets: [UInt64], characters: [Int8]
  ) {
    precondition(concepts.count == Self.conceptCapacity && pairs.count == Self.pairCount)
    precondition(characters.count == Self.characterCount)
    self.signature = signature
    self.gramScale = gramScale
    self.characterScale = characterScale
    self.conceptScale = conceptScale
    self.bias = bias
    holdThreshold = 0
    refuseThreshold = 0
    self.concepts = concepts
    self.pairs = pairs
    self.buckets = buckets
    self.characters = characters
  }

  package static let embedded: AdModel = {
    let start = unsafe UnsafeRawPointer(ad_model_bytes())
    guard let model = unsafe AdModel(UnsafeRawBufferPointer(start: start, count: ad_model_size())) else {
      fatalError("the embedded advertising model is of another format: run make train-ads")
    }
    return model
  }()

  /// Reads a model; nil if the bytes are not a model of this version.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    let fixed = Self.headerSize + Self.conceptCapacity * 2 + Self.pairCount
    guard bytes.count >= fixed, unsafe bytes.prefix(4).elementsEqual("PGAD".utf8) else { return nil }
    func word<Word: FixedWidthInteger>(_ offset: Int, _: Word.Type) -> Word {
      unsafe Word(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Word.self))
    }
    func float(_ offset: Int) -> Float { Float(bitPattern: word(offset, UInt32.self)) }
    let count = Int(word(12, UInt32.self))
    guard word(4, UInt16.self) == Self.version, word(6, UInt16.self) == AdConcept.allCases.count,
      word(16, UInt32.self) == UInt32(Self.characterCount),
      bytes.count == fixed + count * 8 + Self.characterCount, count > 0
    else { return nil }
    self.init(
      signature: word(8, UInt32.self), gramScale: float(20), characterScale: float(24), conceptScale: float(28),
      bias: float(32),
      concepts: (0..<Self.conceptCapacity).map { word(Self.headerSize + $0 * 2, Int16.self) },
      pairs: (0..<Self.pairCount).map { word(Self.headerSize + Self.conceptCapacity * 2 + $0, Int8.self) },
      buckets: (0..<count).map { word(fixed + $0 * 8, UInt64.self) },
      characters: (0..<Self.characterCount).map { word(fixed + count * 8 + $0, Int8.self) })
    holdThreshold = float(36)
    refuseThreshold = float(40)
  }

  /// The model in its binary format.
  package var bytes: [UInt8] {
    var bytes = Array("PGAD".utf8)
    func append(_ word: some FixedWidthInteger) {
      for shift in stride(from: 0, to: word.bitWidth, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    append(Self.version)
    append(UInt16(AdConcept.allCases.count))
    append(signature)
    append(UInt32(buckets.count))
    append(UInt32(characters.count))
    for float in [gramScale, characterScale, conceptScale, bias, holdThreshold, refuseThreshold] {
      append(float.bitPattern)
    }
    concepts.forEach(append)
    pairs.forEach(append)
    buckets.forEach(append)
    characters.forEach(append)
    return bytes
  }

  /// Returns the index of the weight of two concepts, `low` < `high`.
  package static func pair(_ low: Int, _ high: Int) -> Int { high * (high - 1) / 2 + low }

  /// Returns the bucket of an n-gram among `count` buckets.
  @inline(__always)
  package static func bucket(_ gram: UInt32, _ count: Int) -> Int {
    Int(truncatingIfNeeded: (UInt64(gram) &* UInt64(truncatingIfNeeded: count)) >> 32)
  }

  /// Returns the weight of an n-gram in its bucket, 0 if it has no entry.
  @inline(__always)
  package static func weight(_ gram: UInt32, in bucket: UInt64) -> Int {
    let repeated = UInt64(gram & 0xFF) &* 0x0001_0001_0001_0001
    let difference = (bucket & 0x00FF_00FF_00FF_00FF) ^ repeated
    // The lowest lane that is 0 is exact; a borrow can only reach higher lanes.
    let zeros = (difference &- 0x0001_0001_0001_0001) & ~difference & 0x8000_8000_8000_8000
    if zeros == 0 { return 0 }
    let lane = zeros.trailingZeroBitCount & ~15
    return Int(Int8(truncatingIfNeeded: bucket >> (UInt64(lane) + 8)))
  }

  /// Returns the sum of the weights of concepts (as bits) and of their pairs.
  @inline(__always)
  func sum(ofConcepts bits: UInt64) -> Int {
    var sum = 0
    var rest = bits
    while rest != 0 {
      let high = rest.trailingZeroBitCount
      rest &= rest &- 1
      sum &+= Int(concepts[high])
      var lower = bits & (1 << UInt64(high) &- 1)
      let row = high &* (high &- 1) / 2
      while lower != 0 {
        sum &+= Int(pairs[row &+ lower.trailingZeroBitCount])
        lower &= lower &- 1
      }
    }
    return sum
  }
}
