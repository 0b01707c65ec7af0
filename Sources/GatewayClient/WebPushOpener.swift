import GatewayProtocol
import PushCore
import PushPolicy

/// Decrypts Web Push messages in the lines of pushes. The rest of the client gets the lines of usual pushes.
///
/// A message that this device can't decrypt stays as the gateway sent it: an alert with the text
/// ``WebPushEnvelope/placeholder``.
struct WebPushOpener {
  /// Returns the keys of an endpoint; nil if this device has none.
  private let keys: @Sendable (_ tag: String) -> WebPushKeys?
  private let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)
  /// Created with the first alert that has to be assessed.
  private var detector: AdDetector?
  /// The preferences of the device's user; nil before the gateway has sent them.
  var preferences: Preferences?

  init(keys: @escaping @Sendable (_ tag: String) -> WebPushKeys?) { self.keys = keys }

  /// Returns a batch with the decrypted messages in place of the encrypted ones.
  mutating func open(_ batch: PushBatch) -> PushBatch {
    var hasEncrypted = false
    batch.forEachLine { _, line in
      if WebPushEnvelope.tag(endingIn: line) != nil { hasEncrypted = true }
    }
    guard hasEncrypted else { return batch }
    var opened = PushBatch()
    batch.forEachLine { seq, line in
      let plain = open(line)
      opened.append(plain.map { $0[...] } ?? line, seq: seq)
    }
    return opened
  }

  /// Returns the line of a push with the decrypted message; nil for a line that stays as it is.
  private mutating func open(_ line: ArraySlice<UInt8>) -> [UInt8]? {
    guard let tag = WebPushEnvelope.tag(endingIn: line), let keys = keys(tag) else { return nil }
    let bytes = Array(line)
    let read = try? parser.parse(bytes.span) { root -> Encrypted? in
      guard let push = DevicePush(root, line: bytes), let payload = root["payload"],
        let envelope = WebPushEnvelope(payload)
      else { return nil }
      return Encrypted(push: push, envelope: envelope)
    }
    guard let encrypted = read ?? nil, encrypted.envelope.endpoint == tag, encrypted.push.topic == keys.app,
      let message = keys.open(encrypted.envelope.content),
      let notification = WebPushNotification.read(message, parser: parser)
    else { return nil }
    let payload = notification.payload(level: encrypted.envelope.level, hasSound: encrypted.envelope.hasSound)
    guard let parsed = try? parser.payload(payload.span) else { return nil }
    let isHeldBack = encrypted.envelope.holdsAds ? isAdvertisement(parsed.notification) : false
    let presentation = encrypted.push.presentation.decrypted(
      parsed.notification, topic: encrypted.push.topic, preferences: preferences,
      isAdvertisement: isHeldBack)
    return WebPushOpener.line(bytes, presentation, payload)
  }

  private struct Encrypted {
    var push: DevicePush
    var envelope: WebPushEnvelope
  }

  private mutating func isAdvertisement(_ notification: PushNotification) -> Bool {
    guard let alert = notification.alert else { return false }
    let detector = self.detector ?? AdDetector()
    self.detector = detector
    return detector.assess(alert) != .pass
  }

  /// Returns a line of a push with another presentation and payload, which are its last members; nil without a presentation.
  /// Quotation marks are escaped within strings, so that the first match is the member.
  private static func line(_ line: [UInt8], _ presentation: Presentation, _ payload: [UInt8]) -> [UInt8]? {
    let name = Array(#","presentation":"#.utf8)
    guard let place = line.firstRange(of: name) else { return nil }
    var opened = Array(line[..<place.upperBound])
    presentation.appendJSON(to: &opened)
    append(#","payload":"#, to: &opened)
    return opened + payload + [UInt8(ascii: "}")]
  }
}
