import Testing

@testable import pushcli

@Suite struct DeviceChoiceTests {
  @Test(
    arguments: [
      (nil, [], false, .enroll("me")), ("me", [], false, .enroll("me")), ("me", ["me"], false, .known("me")),
      (nil, ["ci"], false, .known("ci")), ("mee", ["me"], false, .ask("mee", nearest: "me")),
      ("mee", ["me"], true, .enroll("mee")), ("me", ["me"], true, .known("me")),
      ("laptop", ["me", "ci"], false, .ask("laptop", nearest: nil)),
    ] as [(String?, [String], Bool, DeviceChoice)])
  func `only the first device is made without a question`(
    _ name: String?, _ known: [String], _ isEnrolling: Bool, _ expected: DeviceChoice
  ) throws {
    #expect(try DeviceChoice(name: name, known: known, isEnrolling: isEnrolling) == expected)
  }

  @Test func `of several one has to be named`() {
    let failure = #expect(throws: CommandFailure.self) {
      try DeviceChoice(name: nil, known: ["me", "ci", "desk"], isEnrolling: false)
    }
    #expect(failure?.exit == .usage)
    #expect(failure?.message == "name the device with --device: there are ci, desk and me")
  }
}
