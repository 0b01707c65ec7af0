package import GatewayProtocol
package import PushCore
package import PushPolicy
package import PushStorage

/// Lines of a device's stream, gateway to device (design §4): one JSON object each, without the line's end.
package enum PushLine {
  /// `push`: the payload comes last and as it was sent, so that a client can cut it out without parsing it.
  ///
  /// - Parameter message: the broadcast that it is, if it is one.
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
    appendTimestamp(push.received, to: &line)
    append("\"", to: &line)
    if entry.seq > 0 {
      append(#","expires":""#, to: &line)
      appendTimestamp(push.expires * 1000, to: &line)
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

  /// `welcome`: which version of the protocol is spoken, who serves whom, the numbering of pushes and the other gateways
  /// of the device, if there are, the apps it is registered for, and the person's choices.
  package static func welcome(
    device: Device, apps: [App], preferences: [UInt8], epoch: NumberingEpoch? = nil, gateways: [GatewayAddress] = []
  ) -> [UInt8] {
    var line = Array(
      #"{"type":"welcome","version":\#(DeviceProtocol.version),"gateway":"pushgateway","device":"#.utf8)
    appendJSONString(device.name, to: &line)
    if let epoch { line += #","epoch":"\#(epoch)""#.utf8 }
    appendGateways(gateways, to: &line)
    line += #","apps":["#.utf8
    for (index, app) in apps.enumerated() {
      if index > 0 { line += ",".utf8 }
      line += #"{"topic":"#.utf8
      appendJSONString(app.topic, to: &line)
      line += #","name":"#.utf8
      appendJSONString(app.name, to: &line)
      line += #","icon":"#.utf8
      appendJSONString(app.icon, to: &line)
      line += "}".utf8
    }
    line += #"],"preferences":"#.utf8
    line += preferences
    line += "}".utf8
    return line
  }

  /// `caught-up`: nothing waits after `seq`.
  package static func caughtUp(_ seq: UInt64) -> [UInt8] { Array(#"{"type":"caught-up","seq":\#(seq)}"#.utf8) }

  /// `gap`: the mailbox's cap drove these out.
  package static func gap(_ gap: MailboxGap) -> [UInt8] {
    Array(#"{"type":"gap","from":\#(gap.from),"to":\#(gap.to),"dropped":\#(gap.dropped)}"#.utf8)
  }

  /// `retract`: the push is not to be shown any longer.
  package static func retract(_ id: APNSID) -> [UInt8] { Array(#"{"type":"retract","id":"\#(id)"}"#.utf8) }

  /// `retract`: the push was answered on another screen.
  package static func retract(_ id: APNSID, _ answer: GivenAnswer) -> [UInt8] {
    var line = Array(#"{"type":"retract","id":"\#(id)""#.utf8)
    let members = [("action", answer.action), ("person", answer.person), ("device", answer.device)]
    for case (let name, let text?) in members {
      line += #","\#(name)":"#.utf8
      appendJSONString(text, to: &line)
    }
    return line + "}".utf8
  }

  /// `retract`: the sender has taken this push of an app back.
  package static func takenBack(_ id: APNSID, topic: String) -> [UInt8] {
    var line = Array(#"{"type":"retract","id":"\#(id)","topic":"#.utf8)
    appendJSONString(topic, to: &line)
    return line + "}".utf8
  }

  /// `answered`: the answer to a push that counts, on disk; without an action: there is nothing to answer.
  package static func answered(_ id: APNSID, _ action: String?) -> [UInt8] {
    var line = Array(#"{"type":"answered","id":"\#(id)""#.utf8)
    if let action {
      line += #","action":"#.utf8
      appendJSONString(action, to: &line)
    }
    return line + "}".utf8
  }

  /// `undeliverable`: a push of an app was stored and can't be read, and is not sent.
  package static func undeliverable(_ id: APNSID, app: App) -> [UInt8] {
    Array(#"{"type":"undeliverable","id":"\#(id)","#.utf8) + app.lineMembers + Array("}".utf8)
  }

  /// `preferences`: they have changed.
  package static func preferences(_ json: [UInt8]) -> [UInt8] {
    Array(#"{"type":"preferences","preferences":"#.utf8) + json + Array("}".utf8)
  }

  /// `bye`: the gateway ends the stream; the others take the device.
  package static func bye(_ reason: String, gateways: [GatewayAddress] = []) -> [UInt8] {
    var line = Array(#"{"type":"bye","reason":"\#(reason)""#.utf8)
    appendGateways(gateways, to: &line)
    return line + "}".utf8
  }

  /// The member `gateways`, unless it would be empty.
  private static func appendGateways(_ gateways: [GatewayAddress], to line: inout [UInt8]) {
    guard !gateways.isEmpty else { return }
    line += #","gateways":["#.utf8
    for (index, address) in gateways.prefix(Limits.maximumGateways).enumerated() {
      if index > 0 { line += ",".utf8 }
      appendJSONString("\(address)", to: &line)
    }
    line += "]".utf8
  }
}
