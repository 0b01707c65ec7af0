/// The folded form and the class of each Unicode scalar; all letters that look alike have one folded form.
///
/// Case, marks, compatibility forms (fullwidth, circled, mathematical, raised), look-alikes of other scripts, and
/// traditional ideographs are all folded into one scalar. Invisible scalars are dropped.
@safe
final class LetterFolding: @unchecked Sendable {  // Only `init` writes the table.
  static let shared = LetterFolding()

  enum Class: UInt8 {
    /// A letter of a script with spaces between words, or of Thai and similar scripts.
    case letter
    /// A character that is a word or a syllable alone: Han and kana.
    case ideograph
    case digit
    case space
    /// The end of a clause: full stops, commas, brackets, quotes, line breaks.
    case stop
    case hyphen
    case apostrophe
    case currency
    case percent
    /// Emoji, stars, underscores and all other signs that do not end a clause.
    case symbol
    /// An invisible scalar or one that only marks a letter: zero-width scalars and combining marks.
    case dropped
    /// A scalar that stands for several; see ``expansions``.
    case expanded
    /// The end of one text of a notification.
    case end
  }

  /// The end of the table. Two planes of ideographs follow, then symbols and dropped scalars.
  private static let tableEnd: UInt32 = 0x20000
  /// A flag of an entry: the ideograph may be the first part of one that was split in two.
  static let splitFlag: UInt32 = 1 << 23

  /// An entry for each scalar below ``tableEnd``: its ``Class`` in the top 8 bits, its folded form in the low 21.
  private let entries: UnsafeMutablePointer<UInt32>

  init() {
    unsafe entries = .allocate(capacity: Int(Self.tableEnd))
    fillASCII()
    for (kind, ranges) in Self.blocks { for range in ranges { fill(range, kind) } }
    fillRanges()
    fillForms()
    for (first, _) in Self.splits { unsafe entries[Int(first.0.value)] |= Self.splitFlag }
    for (scalar, _) in Self.expansions { set(scalar.value, .expanded, scalar.value) }
  }

  deinit { unsafe entries.deallocate() }

  /// The entry of any scalar.
  @inline(__always)
  subscript(scalar: UInt32) -> UInt32 {
    if scalar < Self.tableEnd { return unsafe entries[Int(scalar)] }
    return Self.entry(scalar < 0x40000 ? .ideograph : scalar >= 0xE0000 ? .dropped : .symbol, scalar)
  }

  @inline(__always)
  static func entry(_ kind: Class, _ scalar: UInt32) -> UInt32 { UInt32(kind.rawValue) << 24 | scalar }

  private func set(_ scalar: UInt32, _ kind: Class, _ folded: UInt32) {
    unsafe entries[Int(scalar)] = Self.entry(kind, folded)
  }

  /// Sets the entries of a range; each scalar is its own folded form.
  private func fill(_ range: ClosedRange<UInt32>, _ kind: Class) {
    var scalar = range.lowerBound
    while scalar <= range.upperBound {
      set(scalar, kind, scalar)
      scalar += 1
    }
  }

  private func fillASCII() {
    let classes: [(Class, String)] = [
      (.space, " \t"), (.stop, "\n\r.,;:!?()[]{}\"<>"), (.hyphen, "-/&"), (.apostrophe, "'`"), (.currency, "$"),
      (.percent, "%"), (.digit, "0123456789"),
    ]
    for scalar in UInt32(0)..<0x80 { set(scalar, scalar < 0x20 ? .space : .symbol, scalar) }
    set(0x7F, .dropped, 0x7F)
    for (kind, characters) in classes {
      for scalar in characters.unicodeScalars { set(scalar.value, kind, scalar.value) }
    }
    for letter in UInt32(0x61)...0x7A {
      set(letter, .letter, letter)
      set(letter - 0x20, .letter, letter)
    }
  }

  /// Sets the entries of blocks that repeat the alphabet, the digits or ASCII in other forms.
  private func fillRanges() {
    for scalar in UInt32(0xFF01)...0xFF5E { unsafe entries[Int(scalar)] = unsafe entries[Int(scalar - 0xFEE0)] }
    // Two alphabets in each step: capitals, then small letters.
    for start in stride(from: UInt32(0x1D400), to: 0x1D6A4, by: 52) {
      for index in UInt32(0)..<52 { set(start + index, .letter, 0x61 + index % 26) }
    }
    let alphabets: [UInt32] = [0x24B6, 0x24D0, 0x249C, 0x1F110, 0x1F130, 0x1F150, 0x1F170, 0x1F1E6]
    for start in alphabets { for index in UInt32(0)..<26 { set(start + index, .letter, 0x61 + index) } }
    let digits: [UInt32] = [
      0x0660, 0x06F0, 0x0966, 0x0E50, 0x2080, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1F101, 0x1FBF0,
    ]
    for start in digits { for index in UInt32(0)..<10 { set(start + index, .digit, 0x30 + index) } }
    // These blocks begin with 1.
    for start in [0x2460, 0x2474, 0x2488, 0x24F5, 0x2776, 0x2780, 0x278A] as [UInt32] {
      for index in UInt32(0)..<9 { set(start + index, .digit, 0x31 + index) }
    }
    for (index, scalar) in "⁰¹²³⁴⁵⁶⁷⁸⁹".unicodeScalars.enumerated() { set(scalar.value, .digit, 0x30 + UInt32(index)) }
    for scalar in "⓪⓿🄀".unicodeScalars { set(scalar.value, .digit, 0x30) }
  }

  private func fillForms() {
    for (letter, forms) in Self.likenesses { fold(forms, into: letter.value) }
    for (letter, forms) in Self.capitals { fold(forms, into: letter.value) }
    for (index, scalar) in Self.radicals.unicodeScalars.enumerated() {
      set(0x2F00 + UInt32(index), .ideograph, scalar.value)
    }
    for (index, scalar) in Self.compatibilityIdeographs.unicodeScalars.enumerated() {
      set(0xF900 + UInt32(index), .ideograph, scalar.value)
    }
    var traditional: UInt32?
    for scalar in Self.simplified.unicodeScalars {
      if let form = traditional {
        set(form, .ideograph, scalar.value)
        traditional = nil
      } else {
        traditional = scalar.value
      }
    }
    for (kind, characters) in Self.signs {
      for scalar in characters.unicodeScalars { set(scalar.value, kind, scalar.value) }
    }
  }

  private func fold(_ forms: String, into letter: UInt32) {
    for form in forms.unicodeScalars { set(form.value, .letter, letter) }
  }

  /// Signs beyond ASCII whose class differs from that of their block.
  private static let signs: [(Class, String)] = [
    (.stop, "。，、；：！？（）《》〈〉「」『』【】〔〕“”„«»…‥\u{85}\u{2028}\u{2029}｡｢｣､؟،؛।"),
    (.hyphen, "‐‑‒–—―−～〜"), (.apostrophe, "’‘ʼ′"), (.currency, "€£¥￥￡￠¤₩₽₹฿₫₺₴₱₦"), (.percent, "％٪﹪‰"),
    (.space, "\u{A0}\u{1680}\u{202F}\u{205F}\u{3000}"),
  ]

  /// The classes of blocks beyond ASCII; if two overlap, the later one counts. All other scalars are letters.
  private static let blocks: [(Class, [ClosedRange<UInt32>])] = [
    (.letter, [0x80...tableEnd - 1]),
    (
      .ideograph,
      [
        0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x3029, 0x3041...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF,
        0x4E00...0x9FFF, 0xF900...0xFAFF, 0xFF66...0xFF9D,
      ]
    ),
    (
      .symbol,
      [
        0x80...0xA9, 0xAB...0xB4, 0xB6...0xB9, 0xBB...0xBF, 0xD7...0xD7, 0xF7...0xF7, 0x2010...0x2BFF, 0x2E00...0x2E7F,
        0x3000...0x3004, 0x3008...0x3020, 0x3030...0x303F, 0x3200...0x33FF, 0xFE10...0xFE1F, 0xFE30...0xFE6F,
        0xFF01...0xFF20, 0xFF5B...0xFF65, 0xFFE0...0xFFEF, 0x1F000...0x1FBFF, 0xD800...0xF8FF,
      ]
    ),
    (.space, [0x2000...0x200A]),
    (
      .dropped,
      [
        0xAD...0xAD, 0x300...0x36F, 0x483...0x489, 0x591...0x5BD, 0x610...0x61A, 0x61C...0x61C, 0x64B...0x65F,
        0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x200B...0x200F,
        0x202A...0x202E, 0x2060...0x206F, 0x20D0...0x20FF, 0x3164...0x3164, 0xFE00...0xFE0F, 0xFE20...0xFE2F,
        0xFEFF...0xFEFF, 0xFFA0...0xFFA0, 0xFFF0...0xFFFB,
      ]
    ),
  ]

  /// Scalars that stand for several, and their expansions.
  static let expansions: [(Unicode.Scalar, String)] = [
    ("ﬀ", "ff"), ("ﬁ", "fi"), ("ﬂ", "fl"), ("ﬃ", "ffi"), ("ﬄ", "ffl"), ("ﬆ", "st"), ("ß", "ss"), ("№", "no"),
    ("℡", "tel"),
    ("🆓", "free "), ("🆕", "new "), ("🆒", "cool "), ("🆗", "ok "), ("🆙", "up "), ("🈹", "割"), ("🈚", "无"), ("🈶", "有"),
    ("🈵", "满"), ("🈯", "指"), ("🈴", "合"), ("🉐", "得"), ("🈺", "营"), ("🈷", "月"), ("㊙", "秘"), ("㊗", "祝"), ("㈱", "株"),
    ("㈲", "有"), ("㊕", "特"), ("㊝", "优"), ("㊌", "水"), ("㊎", "金"), ("㊔", "财"), ("㊑", "株"), ("㊣", "正"), ("㊤", "上"),
    ("㊥", "中"), ("㊦", "下"), ("½", "1/2 "), ("㎏", "kg"), ("㏄", "cc"), ("㎞", "km"), ("Ⅱ", "ii"), ("Ⅲ", "iii"),
    ("💯", "100"),
    ("💲", "$"), ("🔟", "10"),
  ]

  /// Ideographs that are split as a disguise: the first and second part, and the whole.
  static let splits: [((Unicode.Scalar, Unicode.Scalar), Unicode.Scalar)] = [
    (("亻", "尤"), "优"), (("亻", "介"), "价"), (("亻", "氐"), "低"), (("亻", "更"), "便"), (("亻", "言"), "信"),
    (("亻", "弋"), "代"), (("亻", "昔"), "借"), (("亻", "倍"), "倍"), (("亻", "足"), "促"), (("亻", "建"), "健"),
    (("亻", "直"), "值"), (("亻", "本"), "体"), (("亻", "寸"), "付"), (("亻", "乍"), "作"), (("亻", "子"), "仔"),
    (("亻", "牛"), "件"), (("亻", "门"), "们"), (("亻", "尔"), "你"), (("亻", "呆"), "保"), (("亻", "士"), "仕"),
    (("扌", "斤"), "折"), (("扌", "仓"), "抢"), (("扌", "由"), "抽"), (("扌", "丁"), "打"), (("扌", "妾"), "接"),
    (("扌", "广"), "扩"), (("扌", "兑"), "挩"), (("扌", "包"), "抱"), (("扌", "召"), "招"), (("扌", "非"), "排"),
    (("扌", "是"), "提"), (("扌", "巴"), "把"), (("扌", "奂"), "换"), (("扌", "殳"), "投"), (("扌", "旨"), "指"),
    (("氵", "舌"), "活"), (("氵", "肖"), "消"), (("氵", "胡"), "湖"), (("氵", "先"), "洗"), (("氵", "去"), "法"),
    (("氵", "咸"), "减"), (("冫", "咸"), "减"), (("冫", "争"), "净"), (("讠", "射"), "谢"), (("讠", "青"), "请"),
    (("讠", "丁"), "订"), (("讠", "式"), "试"), (("讠", "果"), "课"), (("讠", "身"), "谢"), (("讠", "正"), "证"),
    (("讠", "旬"), "询"), (("讠", "卖"), "读"), (("钅", "戋"), "钱"), (("钅", "肖"), "销"), (("钅", "十"), "针"),
    (("钅", "艮"), "银"), (("钅", "帛"), "锦"), (("钅", "占"), "钻"), (("纟", "工"), "红"), (("纟", "合"), "给"),
    (("纟", "吉"), "结"), (("纟", "及"), "级"), (("纟", "责"), "绩"), (("纟", "冬"), "终"), (("礻", "畐"), "福"),
    (("礻", "申"), "神"), (("礻", "乚"), "礼"), (("衤", "谷"), "裕"), (("饣", "反"), "饭"), (("饣", "并"), "饼"),
    (("忄", "夬"), "快"), (("忄", "京"), "惊"), (("忄", "青"), "情"), (("辶", "关"), "送"), (("辶", "反"), "返"),
    (("辶", "力"), "边"), (("辶", "先"), "选"), (("辶", "米"), "迷"), (("辶", "首"), "道"), (("辶", "斤"), "近"),
    (("辶", "束"), "速"), (("辶", "寸"), "过"), (("辶", "车"), "连"), (("彳", "导"), "得"), (("彳", "走"), "徒"),
    (("艹", "化"), "花"), (("艹", "采"), "菜"), (("艹", "约"), "药"), (("灬", "占"), "点"), (("疒", "丙"), "病"),
    (("禾", "少"), "秒"), (("禾", "刂"), "利"), (("禾", "斗"), "科"), (("禾", "兑"), "税"), (("牛", "寺"), "特"),
    (("贝", "勾"), "购"), (("贝", "兼"), "赚"), (("贝", "曾"), "赠"), (("贝", "才"), "财"), (("贝", "占"), "贴"),
    (("王", "见"), "现"), (("王", "元"), "玩"), (("代", "贝"), "贷"), (("弗", "贝"), "费"), (("反", "辶"), "返"),
    (("关", "辶"), "送"), (("令", "页"), "领"), (("客", "页"), "额"), (("力", "口"), "加"), (("岁", "月"), "岁"),
    (("乂", "木"), "杀"), (("合", "手"), "拿"), (("米", "青"), "精"), (("米", "斗"), "料"), (("日", "免"), "晚"),
    (("木", "又"), "权"), (("禾", "责"), "积"), (("口", "乞"), "吃"), (("女", "未"), "妹"), (("马", "奇"), "骑"),
  ]
}
