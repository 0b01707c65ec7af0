/// A ``MailboxGap`` in the JSON that a stream stores.
struct StoredGap: Codable {
  var from: UInt64
  var to: UInt64
  var dropped: Int

  init(from: UInt64, to: UInt64, dropped: Int) { (self.from, self.to, self.dropped) = (from, to, dropped) }

  /// - Throws: an error for numbers that no stream reaches.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    from = try fields.decode(UInt64.self, forKey: .from)
    to = try fields.decode(UInt64.self, forKey: .to)
    dropped = try fields.decode(Int.self, forKey: .dropped)
    guard from <= to, Int64(exactly: to) != nil, (0...1 << 48).contains(dropped) else {
      throw DecodingError.dataCorruptedError(forKey: .to, in: fields, debugDescription: "no gap")
    }
  }

  private enum CodingKeys: String, CodingKey { case from, to, dropped }
}
