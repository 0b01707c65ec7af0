import GatewayProtocol
import PushPolicy

/// The part of the center that is searched (L8).
enum CenterScope: Sendable, Hashable {
  case all, unread
  case app(String)
  /// Pushes with this interruption level, as their sender set it.
  case level(InterruptionLevel)
}

/// A filter of the center: the entries within a scope that contain a text.
struct CenterSearch: Sendable, Equatable {
  private let text: String
  private let isASCII: Bool
  let scope: CenterScope

  init(text: String = "", scope: CenterScope = .all) {
    self.text = text.lowercased()
    self.scope = scope
    isASCII = text.utf8.allSatisfy { $0 < 0x80 }
  }

  /// Returns true if every match of this search is also a match of `other`.
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

  /// Returns true if `other` contains the text, ignoring case. An ASCII text is compared by bytes, which is ten times
  /// faster.
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

  fileprivate static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
