import ArgumentParser
import Testing

@testable import pushcli

@Suite struct AliasTests {
  @Test(arguments: ["enroll", "enrol"])
  func `the old spelling of enroll is still a command`(_ name: String) throws {
    let command = try #require(try PushCLI.parseAsRoot(["devices", name, "me"]) as? Devices.Enroll)
    #expect(command.name == "me")
  }
}
