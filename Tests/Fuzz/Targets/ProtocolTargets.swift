import PushPolicy

@testable import GatewayClient
@testable import GatewayProtocol
@testable import PushCore
@testable import TerminalUI

extension FuzzTarget {
  /// A line from a device, as the gateway reads it.
  static let deviceLine = FuzzTarget("device-line", maximumSize: 300) {
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    return { bytes in
      let line = DeviceLine(bytes.span, parser: parser)
      // A leading space selects the slow parser, which must return the same value as the fast one.
      precondition(DeviceLine(([0x20] + bytes).span, parser: parser) == line, "both ways read a line alike")
      guard let line else { return }
      precondition(DeviceLine(Array(line.text.utf8).span, parser: parser) == line, "a line reads as it is written")
    }
  }

  /// Lines from a hostile gateway, as `pushcli` reads and shows them.
  static let gatewayLine = FuzzTarget("gateway-line", maximumSize: 800) {
    let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
    return { bytes in
      var inbox = BroadcastInbox()
      var last: UInt64 = 7
      let position = NumberedPosition(epoch: nil, seq: last)
      for event in DeviceEvent.events(in: bytes + [0x0A], after: position, parser: parser) {
        if case .served(let epoch?, let gateways) = event {
          last = 0
          precondition(epoch.description.utf8.count <= Limits.maximumEpochSize, "an epoch has a bound")
          precondition(gateways.count <= Limits.maximumGateways, "a list has a bound")
          precondition(gateways.allSatisfy { GatewayAddress(line: "\($0)") == $0 }, "an address reads as it is written")
        }
        if let words = event.wordsOfLoss { requireHarmless(Sanitizer.line(words)) }
        guard case .pushes(let batch) = event else { continue }
        for line in batch.lines where line.seq > 0 {
          precondition(line.seq > last && line.seq <= Limits.maximumCursor, "numbers rise")
          last = line.seq
        }
        let news = inbox.take(batch, parser: parser)
        precondition(news.batch.lines.count <= batch.lines.count, "nothing is added")
        precondition(inbox.take(batch, parser: parser).batch.lines.count { $0.seq == 0 } <= news.batch.lines.count)
        news.batch.forEachLine { _, line in check(DevicePush(line: line, parser: parser)) }
      }
    }
  }

  /// A line that a user types in plain mode. `Tests/Fuzz/Plain` has links to its parser, because a program can't import
  /// the module of another one.
  static let plainWords = FuzzTarget("plain-words", maximumSize: 300) {
    { bytes in
      switch PlainLine(String(decoding: bytes, as: UTF8.self)) {
      case .again, .pick: break
      case .word(_, .nothing): break
      case .word(_, .numbers(let numbers)):
        precondition(numbers.count <= 2 * PlainLine.maximumNumbers, "a line has a bound")
      case .word(_, .text(let text)), .other(let text): requireHarmless(text)
      case .wrong(let words):
        requireHarmless(words)
        precondition(words.count <= 200, "an error repeats little")
      }
    }
  }

  /// A text of a sender, to be shown on a terminal.
  static let terminalText = FuzzTarget("terminal-text", maximumSize: 120) {
    { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      requireHarmless(Sanitizer.line(text))
      requireHarmless(Sanitizer.body(text), allowsLineBreaks: true)
      requireHarmless(Sanitizer.escaped(text))
      for character in Sanitizer.line(text) {
        precondition(character.unicodeScalars.count <= Sanitizer.maximumScalarsPerCharacter, "marks leave their cell")
      }
      precondition(Sanitizer.prefix(text, maximumSize: 10).utf8.count <= 10, "a prefix is no longer than it may be")
      let body = Sanitizer.body(text)
      for columns in [1, 7, 40] {
        precondition(DisplayWidth.of(TextLayout.truncated(body, columns: columns)) <= columns, "a truncated line fits")
        for line in TextLayout.wrapped(body, columns: columns, maximumLines: 5) {
          precondition(DisplayWidth.of(line) <= columns, "a wrapped line fits")
        }
      }
      let notice = TerminalNotice(form: .osc9, isWrapped: false).sequence(app: "News", title: text, body: text, id: "1")
      precondition(notice.unicodeScalars.count { $0 == "\u{1B}" } == 2, "nothing ends the sequence but its end")
      _ = ShownName.isValid(text)
    }
  }

  /// Bytes from a keyboard or a paste. NUL is a pause.
  static let keys = FuzzTarget("keys", maximumSize: 100) {
    { bytes in
      var parser = KeyParser()
      for piece in bytes.split(separator: 0) { _ = parser.feed(piece) }
      _ = parser.flush()
      precondition(parser.flush().isEmpty, "nothing is left")
    }
  }

  /// JSON for a terminal: the value stays the same, and the text has no control characters.
  static let json = FuzzTarget("json-text", maximumSize: 300) {
    { bytes in
      let escaped = Sanitizer.escaped(json: bytes)
      let scalars = String(decoding: escaped, as: UTF8.self).unicodeScalars
      precondition(scalars.allSatisfy { $0 == "\n" || $0 == "\t" || !Sanitizer.isControl($0) })
      // Between values a carriage return is white space, but an escaped one is not.
      guard let value = ReferenceJSON(bytes, maximumDepth: 64), !bytes.contains(0x0D) else { return }
      precondition(ReferenceJSON(escaped, maximumDepth: 64) == value, "escaped JSON is the same value")
    }
  }
}

/// Traps if a text has characters that control a terminal.
private func requireHarmless(_ text: String, allowsLineBreaks: Bool = false) {
  precondition(
    text.unicodeScalars.allSatisfy { allowsLineBreaks && $0 == "\n" || !Sanitizer.isControl($0) },
    "a control reaches the terminal")
}

/// Checks that a push that was read can be shown.
private func check(_ push: DevicePush?) {
  guard let push else { return }
  _ = push.payload
  if let link = push.link { requireHarmless(link) }
  for text in [push.presentation.alert?.title, push.presentation.alert?.body, push.app.name] {
    requireHarmless(Sanitizer.line(text ?? ""))
  }
}
