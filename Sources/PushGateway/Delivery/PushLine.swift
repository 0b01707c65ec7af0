package import GatewayProtocol
package import PushCore
package import PushPolicy
package import PushStorage

/// Encodes the lines of a device's stream, gateway to device (design §4): one JSON object each, without the line
/// terminator.
package enum PushLine {
  /// Encodes `push`. The payload comes last and unchanged, so that a client can extract it without parsing.
  ///
  /// - Parameter message: the broadcast of the push, if it is one.
  package static func push(
    _ entry: MailboxEntry, app: App, presentation: Presentation, of message: BroadcastMessage? = nil
  ) -> [UInt8] {
    let push = entry.push
    var line: [UInt8] = []
    line.reserveCapacity(2 * push.payload.count + 512)
    append(#"{"type":"push","seq":"#, to: &line)
    appendDecimal(entry.seq, to: &line)
    if let message {
      line += #","channel":"\#(message.channel)","number":\#(message.number)"#.utf8
    }
    append(#","id":""#, to: &line)
    push.id.append(to: &line)
    append("\",", to: &line)
    line += app.lineMembers
    append(#","received":""#, to: &line)
    Timestamp.append(push.received, to: &line)
    append("\"", to: &line)
    if entry.seq > 0 {
      append(#","expires":""#, to: &line)
      Timestamp.append(push.expires * 1000, to: &line)
      append("\"", to: &line)
    }
    if !push.collapseID.isEmpty {
      append(#","collapse":"#, to: &line)
      appendJSONString(push.collapseID, to: &line)
    }
    append(#","presentation":"#, to: &line)
    presentation.appendJSON(to: &line)
    append(#","payload":"#, to: &line)
    line += push.payload
    append("}", to: &line)
    return line
  }

  /// Encodes `welcome`: the protocol version, the names of gateway and device, the numbering of pushes, the other
  /// gateways if there are any, the device's apps, and the user's preferences.
  package static func welcome(
    device: Device, apps: [App], preferences: [UInt8], epoch: NumberingEpoch? = nil, gateways: [GatewayAddress] = [],
    standing: (App) -> DeviceStanding? = { _ in nil }
  ) -> [UInt8] {
    var line = Array(
      #"{"type":"welcome","version":\#(DeviceProtocol.version),"gateway":"pushgateway","device":"#.utf8)
    appendJSONString(device.name, to: &line)
    if let epoch { line += #","epoch":"\#(epoch)""#.utf8 }
    appendGateways(gateways, to: &line)
    line += #","apps":"#.utf8
    let listed = apps.map {
      DeviceApp(
        topic: $0.topic, name: $0.name, icon: $0.icon, sendsMarketing: $0.sendsMarketing, standing: standing($0))
    }
    DeviceApp.appendJSON(listed, to: &line)
    line += #","preferences":"#.utf8
    line += preferences
    line += "}".utf8
    return line
  }

  /// Encodes `caught-up`: no push is pending after `seq`.
  package static func caughtUp(_ seq: UInt64) -> [UInt8] { Array(#"{"type":"caught-up","seq":\#(seq)}"#.utf8) }

  /// Encodes `gap`: the mailbox's limit evicted these pushes.
  package static func gap(_ gap: MailboxGap) -> [UInt8] {
    Array(#"{"type":"gap","from":\#(gap.from),"to":\#(gap.to),"dropped":\#(gap.dropped)}"#.utf8)
  }

  /// Encodes `retract`: the device must no longer show the push.
  package static func retract(_ id: APNSID) -> [UInt8] { Array(#"{"type":"retract","id":"\#(id)"}"#.utf8) }

  /// Encodes `retract` for a push that was answered on another device.
  package static func retract(_ id: APNSID, _ answer: GivenAnswer) -> [UInt8] {
    var line = Array(#"{"type":"retract","id":"\#(id)""#.utf8)
    let members = [("action", answer.action), ("person", answer.person), ("device", answer.device)]
    for case (let name, let text?) in members {
      line += #","\#(name)":"#.utf8
      appendJSONString(text, to: &line)
    }
    return line + "}".utf8
  }

  /// Encodes `retract` for a push of an app that its sender retracted.
  package static func takenBack(_ id: APNSID, topic: String) -> [UInt8] {
    var line = Array(#"{"type":"retract","id":"\#(id)","topic":"#.utf8)
    appendJSONString(topic, to: &line)
    return line + "}".utf8
  }

  /// Encodes `answered`: the effective answer to a push, which is on disk; without an action, the push can't be
  /// answered.
  package static func answered(_ id: APNSID, _ action: String?) -> [UInt8] {
    var line = Array(#"{"type":"answered","id":"\#(id)""#.utf8)
    if let action {
      line += #","action":"#.utf8
      appendJSONString(action, to: &line)
    }
    return line + "}".utf8
  }

  /// Encodes `undeliverable`: a stored push of an app can't be read and is not sent.
  package static func undeliverable(_ id: APNSID, app: App) -> [UInt8] {
    Array(#"{"type":"undeliverable","id":"\#(id)","#.utf8) + app.lineMembers + Array("}".utf8)
  }

  /// Encodes `preferences` after a change.
  package static func preferences(_ json: [UInt8]) -> [UInt8] {
    Array(#"{"type":"preferences","preferences":"#.utf8) + json + Array("}".utf8)
  }

  /// Encodes `bye`: the gateway ends the stream; the device can connect to the other gateways.
  package static func bye(_ reason: String, gateways: [GatewayAddress] = []) -> [UInt8] {
    var line = Array(#"{"type":"bye","reason":"\#(reason)""#.utf8)
    appendGateways(gateways, to: &line)
    return line + "}".utf8
  }

  /// Appends the member `gateways`, unless it would be empty.
  private static func appendGateways(_ gateways: [GatewayAddress], to line: inout [UInt8]) {
    guard !gateways.isEmpty else { return }
    line += #","gateways":"#.utf8
    appendJSONStrings(gateways.prefix(Limits.maximumGateways).map { "\($0)" }, to: &line)
  }
}
