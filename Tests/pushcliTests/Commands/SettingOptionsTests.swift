import ArgumentParser
import PushGateway
import Testing

@testable import pushcli

@Suite struct SettingOptionsTests {
  @Test(arguments: Configuration.settings.map(\.flag))
  func `every setting is an option of serve, with its help and its default`(_ flag: String) throws {
    let setting = try #require(Configuration.settings.first { $0.flag == flag })
    let words = Serve.helpMessage(columns: 1000)
    #expect(words.contains("--\(flag) <\(flag)>"))
    #expect(words.contains("\(setting.help) (\(setting.normal))"))
    #expect(try Serve.parse(["--\(flag)", "x"]).settings.values == [setting.name: "x"])
    #expect(try Serve.parse(["--\(flag)=x"]).settings.values == [setting.name: "x"])
  }

  @Test func `nothing is set by no option, and the last of two counts, but of a list all do`() throws {
    #expect(try Serve.parse([]).settings.values.isEmpty)
    #expect(try Serve.parse(["--loops", "1", "--loops", "2"]).settings.values == ["loops": "2"])
    #expect(try Serve.parse(["--listen", "a:1", "--listen", "b:2"]).settings.values == ["listen": "a:1,b:2"])
  }

  @Test(arguments: [["--loop", "1"], ["--loops"], ["--mailbox_cap", "1"]])
  func `what is no setting is wrong usage`(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try Serve.parse(arguments) }
  }
}
