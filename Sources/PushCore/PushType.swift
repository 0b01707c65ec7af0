/// The kinds of push (`apns-push-type`, reference §2.3) and the suffix that each adds to the app's bundle id.
package enum PushType: String, Sendable, CaseIterable {
  case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

  /// What the topic has behind the bundle id.
  package var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .location: ".location-query"
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }

  /// The largest payload, in bytes (reference §2.4).
  package var maximumPayloadSize: Int { self == .voip ? Limits.maximumVoIPPayloadSize : Limits.maximumPayloadSize }

  /// Reads the header's value; Apple's own texts disagree on the case of some.
  package init?(_ bytes: Span<UInt8>) {
    if bytes.equals("alert") {
      self = .alert
    } else {
      self.init(rawValue: String(repairing: bytes).lowercased())
    }
  }

  /// The kind and the bundle id that a topic with a known suffix names.
  package static func split(topic: String) -> (bundleID: String, type: PushType?) {
    for type in PushType.allCases where !type.topicSuffix.isEmpty && topic.hasSuffix(type.topicSuffix) {
      return (String(topic.dropLast(type.topicSuffix.count)), type)
    }
    return (topic, nil)
  }
}

/// What a topic's suffix says, for a command that is to name the push type.
package enum PushTypeSuffix {
  /// The push type that a topic's suffix stands for, as `apns-push-type` spells it; nil for an app's own id.
  package static func type(ofTopic topic: String) -> String? { PushType.split(topic: topic).type?.rawValue }
}
