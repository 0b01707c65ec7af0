import Testing

@testable import PushPolicy

/// Spellings that people can read and that programs may misread.
enum Disguises {
  /// Each disguise with its name and function. All keep the meaning of the text.
  static let all: [(String, @Sendable (String) -> String)] = [
    ("full-width", { text in map(text) { 0x21...0x7E ~= $0.value ? [$0.value + 0xFEE0] : [$0.value] } }),
    ("zero-width", { text in map(text) { [$0.value, 0x200B] } }),
    ("combining", { text in map(text) { $0.properties.isAlphabetic ? [$0.value, 0x0336] : [$0.value] } }),
    ("capitals", { $0.uppercased() }),
    ("bold", { text in map(text) { [bold($0.value)] } }),
    ("Cyrillic", { text in map(text) { [cyrillic[$0]?.value ?? $0.value] } }),
    ("traditional", { text in map(text) { [traditional[$0]?.value ?? $0.value] } }),
  ]

  private static func map(_ text: String, _ change: (Unicode.Scalar) -> [UInt32]) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(contentsOf: change(scalar).compactMap(Unicode.Scalar.init)) }
    return String(result)
  }

  private static func bold(_ scalar: UInt32) -> UInt32 {
    switch scalar {
    case 0x41...0x5A: 0x1D400 + scalar - 0x41
    case 0x61...0x7A: 0x1D41A + scalar - 0x61
    case 0x30...0x39: 0x1D7CE + scalar - 0x30
    default: scalar
    }
  }

  private static func table(_ from: String, _ to: String) -> [Unicode.Scalar: Unicode.Scalar] {
    Dictionary(uniqueKeysWithValues: zip(from.unicodeScalars, to.unicodeScalars))
  }

  private static let cyrillic = table("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
  private static let traditional = table("优满减双购买赠红订单应张领", "優滿減雙購買贈紅訂單應張領")
}

struct AdDisguiseTests {
  private let detector = AdDetector()

  @Test(arguments: Disguises.all.map(\.0)) func `a disguise changes nothing in what a text scores`(_ name: String)
    throws
  {
    let disguise = try #require(Disguises.all.first { $0.0 == name }?.1)
    for text in AdDetectorTests.ads + AdDetectorTests.ordinary.values.joined() {
      #expect(detector.assess([disguise(text)]).score == detector.assess([text]).score, "\(disguise(text))")
    }
  }

  @Test(arguments: [
    "F R E E  gift! S A L E up to 70% off, shop now, limited time only",
    "Fl@sh $ale! Up to 70% 0ff everything. Sh0p n0w before midnight",
    "F.l.a.s.h s.a.l.e! Up to 70% o.f.f everything. S.h.o.p now before midnight",
    "Fl🔥ash s🔥ale! Up to 70% off everything. Sh🔥op now before midnight",
    "限 时 特 惠，全 场 五 折 起，满300减100，快 来 抢 购！", "限.时.特.惠，全.场.五.折.起，快.来.抢.购！",
    "限🔥时🔥特🔥惠，全🔥场五折起，满300减100，快来抢🔥购！",
    "FREEEE gift! Saaaale up to 70% off, shop now, limited time only",
    "fLaSh sAlE! uP tO 70% oFf eVeRyThInG. sHoP nOw bEfOrE mIdNiGhT",
    "Flash sa1e! Up to 70% off everything. Shop now before midnight",
    "\u{202E}thgindim erofeb won pohS .gnihtyreve ffo %07 ot pU !elas hsalF\u{202C}",
    "限时特恵，全場五折起，満300減100，快来抢購！",
  ])
  func `letters taken apart or replaced are read all the same`(_ text: String) {
    #expect(detector.assess([text]).outcome == .refuse, "\(detector.assess([text]).score)")
  }

  /// Returns the keys of the words that a reader with "sale" and "free" in its vocabulary finds.
  private func keys(_ text: String) -> [UInt64] {
    let reader = AdReader(vocabulary: ["sale", "free"].map(AdKey.word))
    reader.append(text)
    reader.tokenize()
    return (0..<reader.tokenCount).map { unsafe reader.tokens[$0].key }.filter { $0 != AdKey.boundary }
  }

  @Test func `a run of repeated letters reads as one letter or two, whichever ads use`() {
    #expect(keys("saaaale freeee") == ["sale", "free"].map(AdKey.word))
    #expect(keys("sooo saal") == ["soo", "saal"].map(AdKey.word))
  }

  @Test func `text that is shown from right to left is read as it is shown, up to the end of the override`() {
    #expect(keys("a \u{202E}elas\u{202C} ton") == ["a", "sale", "ton"].map(AdKey.word))
    #expect(keys("\u{202E}elas") == [AdKey.word("sale")])
    #expect(keys("a\u{202C} sale") == ["a", "sale"].map(AdKey.word))
  }

  @Test(arguments: [
    "Sooooo tired, goooood night", "yes|no a|b|c", "let x1 = a[1] | b[2]", "\u{202E}שלום\u{202C} see you",
    "Renée O’Brien-Łukasz paid ₹500", "Y.o.u.r order has shipped", "Ｙｏｕｒ ｃａｒｄ ｗａｓ ｃｈａｒｇｅｄ ＄８４", "Bu1ld fa1led on ma1n",
    "您 的 快 递 已 到 驿 站",
  ])
  func `a disguise alone proves nothing`(_ text: String) {
    #expect(detector.assess([text]).outcome == .pass, "\(detector.assess([text]).score)")
  }
}
