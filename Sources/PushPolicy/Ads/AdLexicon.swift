/// The phrases of each ``AdConcept``, which it finds in the tokens of a text.
///
/// The phrases are a trie in one hash table: the key of a node combines the keys of the tokens that lead to it.
struct AdLexicon {
  private struct Node {
    var key: UInt64 = 0
    /// The concepts of the phrase that ends here, as bits.
    var concepts: UInt64 = 0
    /// The concepts of the phrase in Japanese texts, as bits.
    var japaneseConcepts: UInt64 = 0
    /// True if a longer phrase continues from this node.
    var hasMore = false
  }

  private var nodes: [Node]
  private let mask: Int
  /// A bit set of the keys that begin a phrase, so that most tokens need no lookup in the table.
  private var firsts: [UInt64]
  /// A checksum that changes when the phrases or the tokenization change. The model contains its value at the training.
  private(set) var signature: UInt32 = 0

  /// - Parameters:
  ///   - phrases: the phrases of each concept in any spelling, separated by `|`.
  ///   - chinese: phrases that count only in texts that are not Japanese.
  init(_ phrases: [(AdConcept, String)], chinese: [(AdConcept, String)], reader: AdReader) {
    var paths: [(keys: [UInt64], concept: AdConcept, isChinese: Bool)] = []
    let lists = phrases.map { ($0.0, $0.1, false) } + chinese.map { ($0.0, $0.1, true) }
    for (concept, list, isChinese) in lists {
      for phrase in list.split(separator: "|") {
        reader.reset()
        reader.append(String(phrase))
        reader.tokenize()
        let keys = (0..<reader.tokenCount).map { unsafe reader.tokens[$0] }.filter { $0.kind != .boundary }.map(\.key)
        if !keys.isEmpty { paths.append((keys, concept, isChinese)) }
      }
    }
    var size = 1024
    while size < paths.reduce(0, { $0 + $1.keys.count }) * 2 { size *= 2 }
    nodes = Array(repeating: Node(), count: size)
    mask = size - 1
    firsts = Array(repeating: 0, count: 1024)
    var signature: UInt64 = 0
    for path in paths {
      firsts[Self.word(path.keys[0])] |= Self.bit(path.keys[0])
      var key: UInt64 = 0
      for (index, token) in path.keys.enumerated() {
        key = Self.mix(key, token)
        let slot = slot(of: key)
        nodes[slot].key = key
        if index == path.keys.count - 1 {
          nodes[slot].concepts |= 1 << UInt64(path.concept.rawValue)
          if !path.isChinese { nodes[slot].japaneseConcepts |= 1 << UInt64(path.concept.rawValue) }
        } else {
          nodes[slot].hasMore = true
        }
      }
      signature = Self.mix(signature, key &+ UInt64(path.concept.rawValue) &+ (path.isChinese ? 64 : 0))
    }
    self.signature = UInt32(truncatingIfNeeded: signature >> 32)
  }

  /// Returns the concepts of a text, as bits.
  @inline(__always)
  func concepts(_ reader: borrowing AdReader) -> UInt64 {
    var concepts: UInt64 = 0
    forEach(reader) { found, _, _ in concepts |= found }
    return concepts
  }

  /// Calls `body` for each phrase of a text: its concepts as bits, its first token, and the index after its last.
  @inline(__always)
  func forEach(_ reader: borrowing AdReader, _ body: (UInt64, Int, Int) -> Void) {
    let tokens = unsafe reader.tokens
    let count = reader.tokenCount
    let isJapanese = reader.isJapanese
    unsafe firsts.withUnsafeBufferPointer { firsts in
      unsafe nodes.withUnsafeBufferPointer { nodes in
        for start in 0..<count {
          let first = unsafe tokens[start].key
          guard unsafe firsts[Self.word(first)] & Self.bit(first) != 0 else { continue }
          var key: UInt64 = 0
          var index = start
          while index < count, unsafe tokens[index].kind != .boundary {
            key = unsafe Self.mix(key, tokens[index].key)
            index &+= 1
            var slot = Int(truncatingIfNeeded: key >> 20) & mask
            while unsafe nodes[slot].key != key && nodes[slot].key != 0 { slot = (slot &+ 1) & mask }
            guard unsafe nodes[slot].key == key else { break }
            let concepts = unsafe isJapanese ? nodes[slot].japaneseConcepts : nodes[slot].concepts
            if concepts != 0 { body(concepts, start, index) }
            guard unsafe nodes[slot].hasMore else { break }
          }
        }
      }
    }
  }

  private func slot(of key: UInt64) -> Int {
    var slot = Int(truncatingIfNeeded: key >> 20) & mask
    while nodes[slot].key != key && nodes[slot].key != 0 { slot = (slot + 1) & mask }
    return slot
  }

  @inline(__always)
  private static func word(_ key: UInt64) -> Int { Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 54) }

  @inline(__always)
  private static func bit(_ key: UInt64) -> UInt64 { 1 << ((key &* 0x9E37_79B9_7F4A_7C15) >> 40 & 63) }

  @inline(__always)
  private static func mix(_ key: UInt64, _ token: UInt64) -> UInt64 {
    let mixed = (key ^ token) &* 0xFF51_AFD7_ED55_8CCD
    return (mixed ^ mixed >> 31) | 1
  }

  /// Returns the keys of the words of ads with at least three letters, which are also recognized in pieces and with digits
  /// for letters.
  static func vocabulary(_ phrases: [(AdConcept, String)]) -> [UInt64] {
    let reader = AdReader(vocabulary: [])
    for (concept, list) in phrases where concept.rawValue < AdConcept.code.rawValue {
      for phrase in list.split(separator: "|") { reader.append(String(phrase)) }
    }
    reader.append("now you your the today money cash win price off new app play book get")
    reader.tokenize()
    var keys: [UInt64] = []
    for index in 0..<reader.tokenCount {
      let token = unsafe reader.tokens[index]
      let size = token.end - token.start
      if token.kind == .word, size >= 3 { keys.append(token.key) }
    }
    return keys
  }
}
