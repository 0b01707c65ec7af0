/// Methods to hide the meaning of a text from a program, and harmless variations that look similar.
///
/// The training applies them to ads and to ordinary texts, so that a disguise alone is not evidence of an ad.
enum Disguise: CaseIterable {
  case fullwidth, homoglyphs, zeroWidth, combining, spaced, punctuated, emojiBetween, leet, mathematical, traditional
  case capitals, emojiAround, fragments

  /// Returns a disguised copy of `text`.
  func apply(to text: String, _ random: inout Random) -> String {
    let scalars = Array(text.unicodeScalars)
    var result = String.UnicodeScalarView()
    switch self {
    case .fullwidth:
      for scalar in scalars {
        let isPlain = scalar.value > 0x20 && scalar.value < 0x7F
        result.append(isPlain ? Self.scalar(scalar.value + 0xFEE0) : scalar)
      }
    case .homoglyphs:
      for scalar in scalars { result.append(random.chance(2, of: 3) ? Self.homoglyphTable[scalar] ?? scalar : scalar) }
    case .zeroWidth:
      for scalar in scalars {
        result.append(scalar)
        if random.chance(1, of: 3) {
          result.append(random.pick(["\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{FEFF}"]))
        }
      }
    case .combining:
      for scalar in scalars {
        result.append(scalar)
        if scalar.properties.isAlphabetic, random.chance(1, of: 2) {
          result.append(Self.scalar(0x300 + UInt32(random.below(0x60))))
        }
      }
    case .spaced: return between(scalars, with: [" "], &random)
    case .punctuated: return between(scalars, with: [".", "-", "*", "_", "·", "~", "|", "/"], &random)
    case .emojiBetween: return between(scalars, with: ["🔥", "⭐", "🎁", "💥", "❤", "✨"], &random)
    case .leet:
      for scalar in scalars { result.append(random.chance(2, of: 3) ? Self.leetTable[scalar] ?? scalar : scalar) }
    case .mathematical:
      let start = 0x1D400 + UInt32(random.below(13)) * 52
      for scalar in scalars {
        switch scalar {
        case "A"..."Z": result.append(Self.scalar(start + scalar.value - 0x41))
        case "a"..."z": result.append(Self.scalar(start + 26 + scalar.value - 0x61))
        default: result.append(scalar)
        }
      }
    case .traditional:
      for scalar in scalars { result.append(Self.traditionalTable[scalar] ?? scalar) }
    case .capitals: return text.uppercased()
    case .emojiAround:
      let emoji = ["🔥", "🎉", "📦", "⚠️", "✅", "🚀", "💳", "🔔", "👋", "😊", "❗", "🎁", "⏰", "🙏", "😂"]
      return random.chance(1, of: 2) ? "\(random.pick(emoji)) \(text)" : "\(text) \(random.pick(emoji))"
    case .fragments:
      // Splits some words, as in careless writing.
      for (index, scalar) in scalars.enumerated() {
        result.append(scalar)
        let isInside =
          index > 0 && index + 1 < scalars.count && scalars[index - 1].properties.isAlphabetic
          && scalar.properties.isAlphabetic && scalars[index + 1].properties.isAlphabetic
        if isInside, random.chance(1, of: 6) { result.append(random.pick([" ", ".", "-", "*", " "])) }
      }
    }
    return String(result)
  }

  /// Returns the text with a character between words or between all letters.
  private func between(_ scalars: [Unicode.Scalar], with signs: [Unicode.Scalar], _ random: inout Random) -> String {
    let sign = random.pick(signs)
    let isAll = random.chance(1, of: 3)
    var result = String.UnicodeScalarView()
    var isDisguised = isAll || random.chance(1, of: 2)
    for (index, scalar) in scalars.enumerated() {
      if scalar == " " { isDisguised = isAll || random.chance(1, of: 2) }
      result.append(scalar)
      let isHan = scalar.value >= 0x4E00
      let next = index + 1 < scalars.count ? scalars[index + 1] : " "
      if isDisguised, scalar.properties.isAlphabetic, next.properties.isAlphabetic,
        !isHan || isAll || random.chance(1, of: 2)
      {
        result.append(sign)
      }
      if scalar == " ", isDisguised, sign == " " { result.append(" ") }
    }
    return String(result)
  }

  private static func scalar(_ value: UInt32) -> Unicode.Scalar { Unicode.Scalar(value) ?? "?" }

  private static func table(_ from: String, _ to: String) -> [Unicode.Scalar: Unicode.Scalar] {
    Dictionary(zip(from.unicodeScalars, to.unicodeScalars)) { first, _ in first }
  }

  private static let homoglyphTable = table("aceopxyisjhkmtABCEHIKMOPTXY", "асеорхуіѕјһкмтАВСЕНІКМОРТХУ")
  private static let leetTable = table("oieastOIEAST", "013457013457")
  /// Simplified to traditional characters, for the words of ads and alerts.
  private static let traditionalTable = table(
    "优惠领礼减满购买卖产车东门开关间电话费钱银贷赢奖场专属会员货质赠红买单满张图书语学习习课业务发动机时点击进来这个们为种后长风飞马鸟鱼龙网络经济当",
    "優惠領禮減滿購買賣產車東門開關間電話費錢銀貸贏獎場專屬會員貨質贈紅買單滿張圖書語學習習課業務發動機時點擊進來這個們為種後長風飛馬鳥魚龍網絡經濟當")
}
