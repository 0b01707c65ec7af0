import Foundation

/// The project's own texts: templates with slots, by kind, from which texts are created.
///
/// A file has sections such as `[ok en bank]`: label, language, kind. Each line is a template. `(a|b|)` stands for one
/// of its alternatives, `{slot}` is replaced, and ` // ` separates a title from its body. A section `[slot name en]`
/// lists the values of a slot, one per line. Slots of the language `*` are for all languages. Files `judge….txt` are
/// never used for training. The lines of files `real….txt` are texts rather than templates: most have no slots.
struct Grammar {
  struct Template {
    var label: Label
    var language: String
    var kind: String
    var text: String
    /// The fold of the template, below ``foldCount``. Nil if the template is never used for training.
    var fold: Int?
    /// True for a text, which stands for less than a template.
    var isText: Bool
  }

  private(set) var templates: [Template] = []
  private var slots: [String: [String]] = [:]

  /// The number of parts of the templates. Each part is evaluated with a model that was trained on the others.
  static let foldCount = 5

  init(folder: URL) throws {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    for file in files.filter({ $0.pathExtension == "txt" }).sorted(by: { $0.path < $1.path }) {
      try read(String(contentsOf: file, encoding: .utf8), named: file.lastPathComponent)
    }
  }

  private mutating func read(_ text: String, named name: String) throws {
    var header: [String] = []
    var index = 0
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.hasPrefix("#") { continue }
      if line.hasPrefix("["), line.hasSuffix("]"), !line.contains("|") {
        header = line.dropFirst().dropLast().split(separator: " ").map(String.init)
        guard header.count == 3 else { throw TrainingError("\(name):\(number + 1): a section has three words") }
        index = 0
      } else if header.first == "slot" {
        slots["\(header[1]).\(header[2])", default: []].append(String(line))
      } else if let label = header.first.flatMap(Label.init) {
        templates.append(
          Template(
            label: label, language: header[1], kind: header[2], text: String(line),
            fold: name.hasPrefix("judge") ? nil : index % Self.foldCount, isText: name.hasPrefix("real")))
        index += 1
      } else {
        throw TrainingError("\(name):\(number + 1): a line outside a section")
      }
    }
  }

  /// Creates a text from a template: a title, if it has one, and a body.
  func expand(_ template: Template, _ random: inout Random) -> [String] {
    var bytes = Array(template.text.utf8)[...]
    let text = String(decoding: sequence(&bytes, template.language, &random, depth: 0), as: UTF8.self)
    return text.components(separatedBy: " // ")
  }

  /// Reads up to the end, or to the `|` or `)` that belongs to the enclosing alternatives.
  private func sequence(
    _ bytes: inout ArraySlice<UInt8>, _ language: String, _ random: inout Random, depth: Int
  ) -> [UInt8] {
    var result: [UInt8] = []
    while let byte = bytes.first {
      switch byte {
      case UInt8(ascii: "("):
        bytes.removeFirst()
        var choices: [[UInt8]] = []
        repeat {
          choices.append(sequence(&bytes, language, &random, depth: depth + 1))
        } while bytes.popFirst() == UInt8(ascii: "|")
        result += random.pick(choices)
      case UInt8(ascii: "|") where depth > 0, UInt8(ascii: ")") where depth > 0:
        return result
      case UInt8(ascii: "{"):
        let name = bytes.dropFirst().prefix { $0 != UInt8(ascii: "}") }
        bytes = bytes.dropFirst(name.count + 2)
        result += Array(fill(String(decoding: name, as: UTF8.self), language, &random).utf8)
      default:
        result.append(byte)
        bytes.removeFirst()
      }
    }
    return result
  }

  private func fill(_ name: String, _ language: String, _ random: inout Random) -> String {
    if let words = slots["\(name).\(language)"] ?? slots["\(name).*"] {
      var bytes = Array(random.pick(words).utf8)[...]
      return String(decoding: sequence(&bytes, language, &random, depth: 0), as: UTF8.self)
    }
    let isChinese = language == "zh"
    func digits(_ count: Int) -> String { (0..<count).map { _ in String(random.below(10)) }.joined() }
    switch name {
    case "n": return String(2 + random.below(9))
    case "nn": return String(10 + random.below(90))
    case "nnn": return String(100 + random.below(900))
    case "nnnn": return String(1000 + random.below(9000))
    case "off": return random.pick(["5", "10", "15", "20", "25", "30", "35", "40", "45", "50", "60", "70", "75", "80"])
    case "pct": return "\(1 + random.below(99))" + (random.chance(1, of: 4) ? ".\(random.below(10))" : "") + "%"
    case "code": return digits(random.pick([4, 4, 6, 6, 6, 8]))
    case "id": return random.pick(["#", "", "A-", "TK-", "B", "INV-", "#"]) + digits(random.pick([3, 4, 5, 6, 7]))
    case "tail": return digits(4)
    case "long": return digits(random.pick([10, 11, 12, 13]))
    case "time":
      let hour = random.below(24)
      let minute = random.pick(["00", "05", "10", "15", "20", "30", "40", "45", "50"])
      if !isChinese, random.chance(1, of: 3) {
        return "\(hour % 12 + 1)\(random.pick([":\(minute)", ""]))\(random.pick([" AM", " PM", "am", "pm"]))"
      }
      return "\(hour):\(minute)"
    case "money":
      let whole = random.pick([random.below(20) + 1, random.below(200) + 1, random.below(5000) + 1])
      let cents = random.chance(1, of: 2) ? ".\(digits(2))" : ""
      let grouped = whole >= 1000 ? "\(whole / 1000),\(String(1000 + whole % 1000).dropFirst())" : "\(whole)"
      let number = (random.chance(1, of: 2) ? grouped : "\(whole)") + cents
      if isChinese {
        let form = random.below(5)
        return form == 0 ? "¥\(number)" : form == 1 ? "￥\(number)" : form == 2 ? "\(number) 元" : "\(number)元"
      }
      let form = random.below(8)
      return form < 4
        ? "$\(number)"
        : form == 4 ? "£\(number)" : form == 5 ? "€\(number)" : form == 6 ? "\(number) USD" : "Rs.\(number)"
    case "price":
      let whole = random.pick([random.below(10) + 1, random.below(100) + 1, random.below(900) + 99])
      if isChinese { return "\(whole)\(random.chance(1, of: 4) ? ".9" : "")元" }
      return random.pick(["$", "$", "$", "£", "€"]) + "\(whole)" + (random.chance(1, of: 2) ? ".99" : "")
    default: return name
    }
  }

  /// The names of slots that templates use and that have no values.
  var unknownSlots: Set<String> {
    let built: Set = ["n", "nn", "nnn", "nnnn", "off", "pct", "code", "id", "tail", "long", "time", "money", "price"]
    var unknown: Set<String> = []
    for template in templates {
      for piece in template.text.split(separator: "{").dropFirst() {
        let name = String(piece.prefix { $0 != "}" })
        let isKnown = built.contains(name) || slots["\(name).\(template.language)"] != nil || slots["\(name).*"] != nil
        if !isKnown { unknown.insert("\(name).\(template.language)") }
      }
    }
    return unknown
  }
}

/// The label of a text.
enum Label: String {
  case promo, scam, ok
}

/// An error with a message for people.
struct TrainingError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
