import PushCore
import PushPolicy
import Testing

@testable import GatewayProtocol

@Suite struct GatewayLineTests {
  let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)

  func line(_ text: String) -> GatewayLine? { GatewayLine(Array(text.utf8).span, parser: parser) }

  private func version(_ text: String) throws -> Int {
    guard case .welcome(let welcome) = try #require(line(text)) else {
      Issue.record("no welcome: \(text)")
      return 0
    }
    return welcome.version
  }

  @Test func `a welcome says which version its gateway speaks, 1 if it says none`() throws {
    #expect(try version(#"{"type":"welcome","version":2,"gateway":"g"}"#) == 2)
    #expect(try version(#"{"type":"welcome","gateway":"g"}"#) == 1)
    for wrong in ["0", "-1", "2.5", "1e300", "null", #""2""#, "[2]"] {
      #expect(try version(#"{"type":"welcome","version":\#(wrong),"gateway":"g"}"#) == 1, "\(wrong)")
    }
  }

  @Test func `a welcome of a later version is read as far as it is known`() {
    let text = #"""
      {"type":"welcome","version":900,"new":{"deep":[1]},"gateway":"g","device":"d",\#
      "apps":[{"topic":"t","name":"n","icon":"i","new":1}],"preferences":{"badge":false},"later":true}
      """#
    var preferences = Preferences()
    preferences.parts.badge = false
    let apps = [DeviceApp(topic: "t", name: "n", icon: "i")]
    #expect(
      line(text)
        == .welcome(.init(version: 900, gateway: "g", device: "d", apps: apps, preferences: preferences)))
  }

  @Test func `a welcome names the numbering of its pushes and the other gateways, where there are`() throws {
    let names = (1...Limits.maximumGateways + 1).map { #""g\#($0):7""# }.joined(separator: ",")
    let text = #"{"type":"welcome","gateway":"g","epoch":"cell-1","gateways":[\#(names)]}"#
    guard case .welcome(let welcome) = try #require(line(text)) else {
      Issue.record("no welcome: \(text)")
      return
    }
    #expect(welcome.epoch == NumberingEpoch("cell-1"))
    #expect(welcome.gateways == (1...Limits.maximumGateways).map { GatewayAddress(host: "g\($0)", port: 7) })
  }

  @Test(
    arguments: [
      (#"{"type":"caught-up","seq":7,"new":1}"#, .caughtUp(seq: 7)),
      (#"{"type":"gap","dropped":2}"#, .gap(from: 0, to: 0, dropped: 2)),
      (#"{"type":"gap","from":-1,"to":9223372036854775807,"dropped":-3}"#, .gap(from: 0, to: 1 << 53, dropped: 0)),
      (#"{"type":"retract","id":"x"}"#, .retract(id: "x")),
      (#"{"type":"retract","id":"x","topic":"a.b"}"#, .takenBack(id: "x", topic: "a.b")),
      (
        #"{"type":"retract","id":"x","action":"yes","person":"ann"}"#,
        .answeredElsewhere(id: "x", GivenAnswer(action: "yes", person: "ann"))
      ),
      (
        #"{"type":"retract","id":"x","action":"view","device":"laptop","new":1}"#,
        .answeredElsewhere(id: "x", GivenAnswer(action: "view", device: "laptop"))
      ),
      (#"{"type":"undeliverable"}"#, .undeliverable(id: "", topic: "")), (#"{"type":"bye"}"#, .bye(reason: "")),
      (#"{"type":"bye","reason":"shutdown"}"#, .bye(reason: "shutdown")),
      (
        #"{"type":"bye","reason":"shutdown","gateways":["b:2",7,"c","b:2","[::1]:3"]}"#,
        .bye(
          reason: "shutdown",
          gateways: [GatewayAddress(host: "b", port: 2), GatewayAddress(host: "::1", port: 3)])
      ),
      (#"{"type":"bye","reason":"shutdown","gateways":"b:2"}"#, .bye(reason: "shutdown")),
      (#"{"type":"push","seq":-1,"id":"i","topic":"t"}"#, .push(seq: 0)),
      (#"{"type":"push","seq":7,"id":"i"}"#, .unreadablePush(seq: 7)),
    ] as [(String, GatewayLine)])
  func `a line is read, and its numbers are brought within their bounds`(_ text: String, _ expected: GatewayLine) {
    #expect(line(text) == expected)
  }

  @Test(arguments: [
    "", "words", "[]", "{}", #"{"type":"new","seq":7}"#, #"{"type":"retract"}"#, #"{"type":"gap"}"#,
    #"{"type":"preferences"}"#, #"{"type":"preferences","preferences":7}"#, #"{"type":"welcome""#,
  ])
  func `any other line is none`(_ text: String) {
    #expect(line(text) == nil)
  }
}
