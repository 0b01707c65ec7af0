import PushPolicy
import Synchronization

/// A regular expression that is searched in a text in linear time.
///
/// The states of an automaton are followed in parallel (Thompson), so no pattern causes repeated work: a search takes at
/// most ``maximumStates`` steps for each character, and one for each range of a set. Foundation's and the standard library's expressions backtrack and have no
/// limit of time. All searches of a pattern together take at most ``maximumSteps``.
///
/// Supported are literals, `.`, `[…]`, `[^…]`, `\d \w \s \D \W \S`, `*`, `+`, `?`, `{m,n}`, `|`, groups, `^` and `$`.
struct LinearPattern: Sendable {
  /// A pattern that is not supported, described in one line.
  struct SyntaxError: Error, Equatable { var description: String }

  /// A set of characters.
  private struct Class: Sendable {
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    var isNegated = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
      ranges.contains { $0.contains(scalar) } != isNegated
    }
  }

  private indirect enum Node {
    case characters(Class)
    case start
    case end
    case sequence([Node])
    case choice([Node])
    case repeated(Node, minimum: Int, maximum: Int?)
  }

  private enum State: Sendable {
    case characters(Class, next: Int)
    case start(next: Int)
    case end(next: Int)
    case split(Int, Int)
    case accepted
  }

  /// The maximum size of a pattern in bytes.
  static let maximumSize = 256
  /// The maximum number of states, after counted repetitions are written out.
  static let maximumStates = 1000
  /// The maximum number of steps of all searches: about a second.
  static let maximumSteps = 200_000_000
  /// The maximum number of a counted repetition.
  private static let maximumCount = 255
  private static let tooLarge = SyntaxError(description: "the pattern is too large: use smaller counts")

  private var states: [State] = [.accepted]
  private var first = 0
  /// The number of compiled nodes, with repetitions: an empty group adds no state.
  private var work = 0
  /// The steps that are left for further searches, shared by all copies of the pattern.
  private let budget: Budget

  private final class Budget: Sendable {
    let left: Atomic<Int>

    init(_ steps: Int) { left = Atomic(steps) }
  }

  /// True if the searches have taken all steps: every further search returns false.
  var isExhausted: Bool { budget.left.load(ordering: .relaxed) <= 0 }

  /// Compiles a pattern.
  ///
  /// - Parameter steps: the maximum number of steps of all searches; a search that has begun ends normally.
  init(_ pattern: String, steps: Int = maximumSteps) throws(SyntaxError) {
    budget = Budget(steps)
    guard pattern.utf8.count <= LinearPattern.maximumSize else {
      throw SyntaxError(description: "the pattern has more than \(LinearPattern.maximumSize) bytes")
    }
    var parser = Parser(rest: Array(pattern.unicodeScalars)[...])
    let node = try parser.choice()
    guard parser.rest.isEmpty else { throw SyntaxError(description: "there is a \")\" without \"(\"") }
    first = try compile(node, next: 0)
  }

  /// Adds the states of a node, the last first.
  ///
  /// - Returns: the number of the first state.
  private mutating func compile(_ node: Node, next: Int) throws(SyntaxError) -> Int {
    work += 1
    guard work <= 10 * LinearPattern.maximumStates else { throw LinearPattern.tooLarge }
    switch node {
    case .characters(let characters): return try add(.characters(characters, next: next))
    case .start: return try add(.start(next: next))
    case .end: return try add(.end(next: next))
    case .sequence(let nodes):
      var next = next
      for node in nodes.reversed() { next = try compile(node, next: next) }
      return next
    case .choice(let nodes):
      var chosen: Int?
      for node in nodes.reversed() {
        let begin = try compile(node, next: next)
        chosen = if let other = chosen { try add(.split(begin, other)) } else { begin }
      }
      return chosen ?? next
    case .repeated(let node, let minimum, let maximum):
      var next = next
      if let maximum {
        let end = next
        for _ in minimum..<maximum { next = try add(.split(try compile(node, next: next), end)) }
      } else {
        let loop = try add(.split(0, next))
        states[loop] = .split(try compile(node, next: loop), next)
        next = loop
      }
      for _ in 0..<minimum { next = try compile(node, next: next) }
      return next
    }
  }

  private mutating func add(_ state: State) throws(SyntaxError) -> Int {
    guard states.count < LinearPattern.maximumStates else { throw LinearPattern.tooLarge }
    states.append(state)
    return states.count - 1
  }

  /// Returns true if a part of the text matches. Returns false if ``isExhausted``.
  func isFound(in text: String) -> Bool {
    guard !isExhausted else { return false }
    var steps = 0
    defer {
      budget.left.subtract(steps, ordering: .relaxed)
      ReadingSteps.add(steps)
    }
    return isFound(in: Array(text.unicodeScalars), &steps)
  }

  private func isFound(in scalars: [Unicode.Scalar], _ steps: inout Int) -> Bool {
    var (active, following) = (Marks(states.count), Marks(states.count))
    for position in 0...scalars.count {
      // A match may begin at each character.
      if follow(first, at: position, of: scalars.count, into: &active, &steps) { return true }
      guard position < scalars.count else { return false }
      following.removeAll()
      for number in active.numbers {
        guard case .characters(let characters, let next) = states[number] else { continue }
        steps += 1 + characters.ranges.count
        guard characters.contains(scalars[position]) else { continue }
        if follow(next, at: position + 1, of: scalars.count, into: &following, &steps) { return true }
      }
      swap(&active, &following)
    }
    return false
  }

  /// Adds a state and all states that follow it without a character.
  ///
  /// - Returns: true if the pattern is matched.
  private func follow(
    _ number: Int, at position: Int, of count: Int, into marks: inout Marks, _ steps: inout Int
  ) -> Bool {
    marks.pending.append(number)
    while let number = marks.pending.popLast() {
      steps += 1
      guard marks.add(number) else { continue }
      switch states[number] {
      case .accepted: return true
      case .characters: break
      case .start(let next): if position == 0 { marks.pending.append(next) }
      case .end(let next): if position == count { marks.pending.append(next) }
      case .split(let one, let two):
        marks.pending.append(two)
        marks.pending.append(one)
      }
    }
    return false
  }

  /// A set of states. It is used for many characters, so that a character allocates no memory.
  private struct Marks {
    private(set) var numbers: [Int] = []
    /// The states that have to be added.
    var pending: [Int] = []
    private var isMarked: [Bool]

    init(_ count: Int) { isMarked = [Bool](repeating: false, count: count) }

    /// Returns false if the state is in the set already.
    mutating func add(_ number: Int) -> Bool {
      if isMarked[number] { return false }
      isMarked[number] = true
      numbers.append(number)
      return true
    }

    mutating func removeAll() {
      for number in numbers { isMarked[number] = false }
      numbers.removeAll(keepingCapacity: true)
    }
  }

  // MARK: Syntax

  private struct Parser {
    var rest: ArraySlice<Unicode.Scalar>
    private var depth = 0

    init(rest: ArraySlice<Unicode.Scalar>) { self.rest = rest }

    mutating func choice() throws(SyntaxError) -> Node {
      var nodes = [try sequence()]
      while rest.first == "|" {
        rest.removeFirst()
        nodes.append(try sequence())
      }
      return nodes.count == 1 ? nodes[0] : .choice(nodes)
    }

    private mutating func sequence() throws(SyntaxError) -> Node {
      var nodes: [Node] = []
      while let scalar = rest.first, scalar != "|", scalar != ")" { nodes.append(try quantified()) }
      return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    private mutating func quantified() throws(SyntaxError) -> Node {
      let atom = try atom()
      guard let scalar = rest.first, "*+?{".unicodeScalars.contains(scalar) else { return atom }
      rest.removeFirst()
      let (minimum, maximum): (Int, Int?) =
        switch scalar {
        case "*": (0, nil)
        case "+": (1, nil)
        case "?": (0, 1)
        default: try counts()
        }
      if let scalar = rest.first, "*+?{".unicodeScalars.contains(scalar) {
        throw SyntaxError(description: "\"\(scalar)\" after a repetition is not supported")
      }
      return .repeated(atom, minimum: minimum, maximum: maximum)
    }

    private mutating func counts() throws(SyntaxError) -> (Int, Int?) {
      guard let end = rest.firstIndex(of: "}") else { throw SyntaxError(description: "there is a \"{\" without \"}\"") }
      let text = String(String.UnicodeScalarView(rest[..<end]))
      rest = rest[(end + 1)...]
      let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
      let range = 0...LinearPattern.maximumCount
      let error = SyntaxError(
        description: "{\(text)} is not supported: expected {m}, {m,} or {m,n}, up to \(range.upperBound)")
      guard let minimum = parts.first.flatMap({ Int($0) }), range.contains(minimum) else { throw error }
      if parts.count == 1 { return (minimum, minimum) }
      if parts[1].isEmpty { return (minimum, nil) }
      guard let maximum = Int(parts[1]), range.contains(maximum), maximum >= minimum else { throw error }
      return (minimum, maximum)
    }

    private mutating func atom() throws(SyntaxError) -> Node {
      let scalar = rest.removeFirst()
      switch scalar {
      case "^": return .start
      case "$": return .end
      case ".": return .characters(Class(isNegated: true))
      case "[": return .characters(try brackets())
      case "(": return try group()
      case "\\": return .characters(try escape())
      case "*", "+", "?", "{":
        throw SyntaxError(description: "\"\(scalar)\" is at the beginning, or after another operator")
      default: return .characters(Class(ranges: [scalar...scalar]))
      }
    }

    private mutating func group() throws(SyntaxError) -> Node {
      guard rest.first != "?" else { throw SyntaxError(description: "\"(?\" is not supported") }
      depth += 1
      guard depth <= 32 else { throw SyntaxError(description: "groups are nested too deeply") }
      let node = try choice()
      guard rest.popFirst() == ")" else { throw SyntaxError(description: "there is a \"(\" without \")\"") }
      depth -= 1
      return node
    }

    private mutating func escape() throws(SyntaxError) -> Class {
      guard let scalar = rest.popFirst() else { throw SyntaxError(description: "a character is missing after \"\\\"") }
      let digits: ClosedRange<Unicode.Scalar> = "0"..."9"
      let words: [ClosedRange<Unicode.Scalar>] = [digits, "a"..."z", "A"..."Z", "_"..."_", "\u{C0}"..."\u{24F}"]
      let spaces: [ClosedRange<Unicode.Scalar>] = ["\t"..."\r", " "..." ", "\u{A0}"..."\u{A0}"]
      switch scalar {
      case "d": return Class(ranges: [digits])
      case "D": return Class(ranges: [digits], isNegated: true)
      case "w": return Class(ranges: words)
      case "W": return Class(ranges: words, isNegated: true)
      case "s": return Class(ranges: spaces)
      case "S": return Class(ranges: spaces, isNegated: true)
      case "n": return Class(ranges: ["\n"..."\n"])
      case "t": return Class(ranges: ["\t"..."\t"])
      case "0"..."9", "a"..."z", "A"..."Z":
        throw SyntaxError(description: "\"\\\(scalar)\" is not supported")
      default: return Class(ranges: [scalar...scalar])
      }
    }

    private mutating func brackets() throws(SyntaxError) -> Class {
      var found = Class()
      if rest.first == "^" {
        rest.removeFirst()
        found.isNegated = true
      }
      var isFirst = true
      while let scalar = rest.popFirst() {
        if scalar == "]", !isFirst { return found }
        isFirst = false
        var low = Class(ranges: [scalar...scalar])
        if scalar == "\\" { low = try escape() }
        guard !low.isNegated else { throw SyntaxError(description: "a negated class in \"[…]\" is not supported") }
        if low.ranges.count == 1, low.ranges[0].lowerBound == low.ranges[0].upperBound, rest.first == "-",
          let next = rest.dropFirst().first, next != "]"
        {
          rest.removeFirst(2)
          let start = low.ranges[0].lowerBound
          guard next != "\\", start <= next else {
            throw SyntaxError(description: "the range \(start)-\(next) is not supported")
          }
          low = Class(ranges: [start...next])
        }
        found.ranges += low.ranges
      }
      throw SyntaxError(description: "there is a \"[\" without \"]\"")
    }
  }
}
