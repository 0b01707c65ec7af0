/// A parsed payload: the content of the notification, and the parts that break a rule.
package struct ParsedPayload: Sendable, Equatable {
  /// The requested notification, without the parts that break a rule.
  package var notification: PushNotification
  /// All violations of rules that the gateway enforces, in the order of the payload; usually empty.
  package var violations: [Violation]
  /// All values of `aps` with a wrong type, in the order of the payload; usually empty.
  package var faults: [SchemaError]
  /// True if the sender declares the push as marketing: `"marketing": true` beside `aps`.
  package var isMarketing: Bool

  package init(
    notification: PushNotification, violations: [Violation] = [], faults: [SchemaError] = [], isMarketing: Bool = false
  ) {
    (self.notification, self.violations, self.faults) = (notification, violations, faults)
    self.isMarketing = isMarketing
  }
}

/// The reason why bytes are not a payload.
package enum PayloadError: Error, Sendable, Equatable {
  /// There are no bytes.
  case empty
  /// The bytes are not JSON; with the parser's description for users.
  case notJSON(String)
  /// The JSON is an array, a string or another value instead of an object.
  case notAnObject
}

extension JSONParser {
  /// Parses the payload of a push in one pass over its `aps`.
  ///
  /// A payload without `aps` is empty, and keys with a value of a wrong type count as absent. Each occurrence of a
  /// repeated key is checked, and the last valid one is used.
  ///
  /// - Throws: ``PayloadError`` if `bytes` are not a JSON object.
  package func payload(_ bytes: Span<UInt8>) throws(PayloadError) -> ParsedPayload {
    if bytes.isEmpty { throw .empty }
    let payload: ParsedPayload?
    do {
      payload = try parse(bytes) { root in root.kind == .object ? ParsedPayload(root) : nil }
    } catch {
      throw .notJSON(error.message)
    }
    guard let payload else { throw .notAnObject }
    return payload
  }
}

extension ParsedPayload {
  fileprivate init(_ root: JSONElement) {
    self.init(notification: PushNotification())
    root.visitMembers { key, value in
      switch key {
      case "aps":
        guard value.kind == .object else { return faults.append(APSSchema.fault(ofRoot: value)) }
        notification = PushNotification()
        notification.read(aps: value, violations: &violations, faults: &faults)
      // One declaration is enough, also if the key is repeated.
      case "marketing": if value.boolean == true { isMarketing = true }
      default: break
      }
    }
  }
}

extension PushNotification {
  fileprivate mutating func read(aps: JSONElement, violations: inout [Violation], faults: inout [SchemaError]) {
    aps.visitMembers { key, value in
      APSSchema.aps.check(key, value, &faults)
      key.checkVibration(in: "/aps", violations: &violations)
      switch key {
      case "alert": Alert.read(value, into: &alert, violations: &violations, faults: &faults)
      case "badge":
        do throws(Violation) {
          badge = try Self.badgeCount(value)
        } catch {
          violations.append(error)
        }
      case "sound": Sound.read(value, into: &sound, violations: &violations, faults: &faults)
      case "category": category = value.string ?? category
      case "thread-id": threadID = value.string ?? threadID
      case "interruption-level": level = value.string.flatMap(InterruptionLevel.init) ?? level
      case "relevance-score": relevanceScore = value.double ?? relevanceScore
      case "content-available": isContentAvailable = value.flag ?? isContentAvailable
      default: break
      }
    }
  }
}

extension PushNotification.Alert {
  /// Reads `value`, a payload's `alert`: the body, or an object of texts. Without any text there is no alert.
  fileprivate static func read(
    _ value: JSONElement, into alert: inout Self?, violations: inout [Violation], faults: inout [SchemaError]
  ) {
    if let body = value.string {
      var read = Self()
      read.body = body
      alert = body.isEmpty ? nil : read
    } else if value.kind == .object {
      let read = Self(object: value, violations: &violations, faults: &faults)
      alert = read.title.isEmpty && read.subtitle.isEmpty && read.body.isEmpty ? nil : read
    }
  }

  private init(object: JSONElement, violations: inout [Violation], faults: inout [SchemaError]) {
    self.init()
    var title = LocalizedText()
    var subtitle = LocalizedText()
    var body = LocalizedText()
    object.visitMembers { key, value in
      APSSchema.alert.check(key, value, &faults)
      key.checkVibration(in: "/aps/alert", violations: &violations)
      switch key {
      case "title": title.read(plain: value)
      case "title-loc-key": title.read(key: value)
      case "title-loc-args": title.read(arguments: value)
      case "subtitle": subtitle.read(plain: value)
      case "subtitle-loc-key": subtitle.read(key: value)
      case "subtitle-loc-args": subtitle.read(arguments: value)
      case "body": body.read(plain: value)
      case "loc-key": body.read(key: value)
      case "loc-args": body.read(arguments: value)
      case "action-loc-key": action = PushNotification.ActionKey(value) ?? action
      default: break
      }
    }
    self.title = title.shown
    self.subtitle = subtitle.shown
    self.body = body.shown
    if title.arguments.isEmpty, subtitle.arguments.isEmpty, body.arguments.isEmpty { return }
    for text in [title, subtitle, body] { arguments += text.unusedArguments }
  }
}

extension PushNotification.ActionKey {
  /// Reads the key. An empty string counts as `null`; the result is nil for a value of another type.
  fileprivate init?(_ value: JSONElement) {
    if let title = value.string {
      self = title.isEmpty ? .null : .title(title)
    } else if value.kind == .null {
      self = .null
    } else {
      return nil
    }
  }
}

extension JSONElement {
  /// The value of a switch in a payload: 0 or 1 as in Apple's format, or a boolean; a number other than 1 is off.
  var flag: Bool? { boolean ?? double.map { $0 == 1 } }
}
