import GatewayProtocol
import PushPolicy

/// Which part of the center is searched (L8).
enum CenterScope: Sendable, Hashable {
  case all, unread
  case app(String)
  /// What its sender calls so.
  case level(InterruptionLevel)
}

/// What the center shows: what holds a text, in a part of it.
struct CenterSearch: Sendable, Equatable {
  private let text: String
  private let isASCII: Bool
  let scope: CenterScope

  init(text: String = "", scope: CenterScope = .all) {
    self.text = text.lowercased()
    self.scope = scope
    isASCII = text.utf8.allSatisfy { $0 < 0x80 }
  }

  var isEverything: Bool { text.isEmpty && scope == .all }

  /// Whether it finds nothing that `other` does not find.
  func isNarrower(than other: CenterSearch) -> Bool { scope == other.scope && text.hasPrefix(other.text) }

  func finds(_ entry: PhoneState.Entry) -> Bool {
    guard entry.isAlert else { return false }
    switch scope {
    case .all: break
    case .unread: if entry.isRead { return false }
    case .app(let topic): if entry.push.app.topic != topic { return false }
    case .level(let level): if entry.push.level != level { return false }
    }
    guard !text.isEmpty, let alert = entry.push.presentation.listed else { return text.isEmpty }
    return isIn(alert.title) || isIn(alert.body) || isIn(alert.subtitle) || isIn(entry.push.app.name)
      || isIn(entry.push.threadID)
  }

  /// Whether `other` holds the text, in whatever case. Letters of ASCII are compared as bytes, which is ten times as fast.
  private func isIn(_ other: String) -> Bool {
    guard isASCII else { return other.lowercased().contains(text) }
    let (haystack, needle) = (other.utf8.span, text.utf8.span)
    guard haystack.count >= needle.count else { return false }
    for start in 0...haystack.count - needle.count {
      var offset = 0
      while offset < needle.count, Self.lowercased(haystack[start + offset]) == needle[offset] { offset += 1 }
      if offset == needle.count { return true }
    }
    return false
  }
}

extension CenterSearch {
  fileprivate static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
