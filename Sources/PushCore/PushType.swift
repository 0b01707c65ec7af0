/// The push types (`apns-push-type`, reference §2.3), and the suffix that each adds to the app's bundle id.
package enum PushType: String, Sendable, CaseIterable {
  case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

  /// The part of the topic after the bundle id.
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

  /// The maximum size of the payload in bytes (reference §2.4).
  package var maximumPayloadSize: Int { self == .voip ? Limits.maximumVoIPPayloadSize : Limits.maximumPayloadSize }

  /// Reads the header's value in any case, because Apple's own texts disagree on the case of some types.
  package init?(_ bytes: Span<UInt8>) {
    if bytes.equals("alert") {
      self = .alert
    } else {
      self.init(rawValue: String(repairing: bytes).lowercased())
    }
  }

  /// Returns the bundle id and the push type of a topic; the type is nil if the topic has no known suffix.
  package static func split(topic: String) -> (bundleID: String, type: PushType?) {
    for type in PushType.allCases where !type.topicSuffix.isEmpty && topic.hasSuffix(type.topicSuffix) {
      return (String(topic.dropLast(type.topicSuffix.count)), type)
    }
    return (topic, nil)
  }
}
