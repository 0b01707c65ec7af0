import Foundation
import PushCore
import Testing

@testable import pushcli

@Suite struct HookTests {
  private func request(
    _ input: String, event: String = "PermissionRequest", tool: String = "Bash", folder: String? = "/home/ada/shop"
  ) throws -> HookRequest {
    let folder = folder.map { ",\"cwd\":\"\($0)\"" } ?? ""
    return try HookRequest(
      parsing: Array(
        """
        {"session_id":"5e0c","hook_event_name":"\(event)"\(folder),"tool_name":"\(tool)","tool_input":\(input)}
        """.utf8))
  }

  private func answer(_ event: String, _ decision: HookDecision) throws -> String? {
    let format = try #require(HookFormat.all.first { $0.event == event })
    guard let answer = format.answer(decision) else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(answer), as: UTF8.self)
  }

  @Test(
    arguments: [
      (.allow("allowed on phone"), #""permissionDecision":"allow","permissionDecisionReason":"allowed on phone""#),
      (.deny("denied on phone"), #""permissionDecision":"deny","permissionDecisionReason":"denied on phone""#),
      (.undecided("no answer"), #""permissionDecision":"ask","permissionDecisionReason":"no answer""#),
    ] as [(HookDecision, String)])
  func `before a tool, the answer is allow, deny or ask`(_ decision: HookDecision, _ members: String) throws {
    let expected = #"{"hookSpecificOutput":{"hookEventName":"PreToolUse","# + members + "}}"
    #expect(try answer("PreToolUse", decision) == expected)
  }

  @Test func `in place of the agent's prompt, the answer is allow or deny, and none leaves the prompt`() throws {
    let allow = #"{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}"#
    #expect(try answer("PermissionRequest", .allow("allowed on phone")) == allow)
    let deny =
      #"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"denied on phone"},"#
      + #""hookEventName":"PermissionRequest"}}"#
    #expect(try answer("PermissionRequest", .deny("denied on phone")) == deny)
    #expect(try answer("PermissionRequest", .undecided("no answer")) == nil)
  }

  @Test(
    arguments: [
      (.answered(action: "allow", device: "phone"), .allow("allowed on phone")),
      (.answered(action: "deny", device: "phone"), .deny("denied on phone")),
      (.answered(action: "view", device: "phone"), .undecided("the answer is unknown")),
      (.closed(event: "closed"), .undecided("the question was closed without an answer")),
      (.refused("rule N5: alert"), .undecided("nothing of the question can be shown: rule N5: alert")),
      (.expired, .undecided("nobody answered in time")),
    ] as [(QuestionProgress.Outcome, HookDecision)])
  func `only the two actions decide`(_ outcome: QuestionProgress.Outcome, _ decision: HookDecision) {
    #expect(Ask.decision(outcome) == decision)
  }

  @Test func `the question names the tool, the command and the folder`() throws {
    let bash = try request(#"{"command":"npm test\nnpm run build","description":"Tests"}"#)
    #expect(bash.title == "Allow Bash?" && bash.format.event == "PermissionRequest")
    #expect(bash.body == "npm test\nnpm run build\ndescription: Tests\nin /home/ada/shop")
    let edit = try request(#"{"old_string":"a","file_path":"/etc/hosts","new_string":"b"}"#, tool: "Edit", folder: nil)
    #expect(edit.body == "/etc/hosts\nold_string: a\nnew_string: b")
    let grep = try request(#"{"path":"src","pattern":"TODO"}"#, event: "PreToolUse", tool: "Grep", folder: nil)
    #expect(grep.body == "path: src\npattern: TODO" && grep.format.event == "PreToolUse")
    let other = try request(#"{"n":3,"x":0.5,"ok":true,"no":null,"list":[1],"map":{}}"#, tool: "mcp__a__b", folder: nil)
    #expect(other.body == "n: 3\nx: 0.5\nok: true\nlist: […]\nmap: {…}" && other.title == "Allow mcp__a__b?")
    #expect(try request("{}").body == "in /home/ada/shop")
    #expect(try request("7", folder: nil).body == "")
  }

  @Test(arguments: ["x", #"\""#, #"\u0001"#, "é", "👩‍👩‍👧‍👦"])
  func `a payload can contain the text of any request, and a cut text says so`(_ piece: String) throws {
    let text = String(repeating: piece, count: 4_000)
    let long = try request(
      #"{"command":"\#(text)","description":"\#(text)"}"#, tool: text, folder: text)
    let category = "questions-00000000-0000-0000-0000-000000000000"
    let content = PayloadContent(title: long.title, body: long.body, sound: "default", category: category)
    #expect(try content.payload(body: content.body).count <= Limits.maximumPayloadSize)
    #expect(long.body.contains(" more bytes)\nin "))
  }

  @Test func `a text is cut between characters of UTF-8, and counts the rest`() {
    #expect(HookRequest.cut("abc", to: 3) == "abc")
    #expect(HookRequest.cut("abcd", to: 3) == "abc… (1 more bytes)")
    #expect(HookRequest.cut("aéé", to: 4) == "aé… (2 more bytes)")
    #expect(HookRequest.cut("\"\"", to: 3) == "\"… (1 more bytes)")
  }

  @Test(
    arguments: [
      ("", "not JSON: it is empty"), ("{", "not JSON: line 1, column 2"), ("[]", "hook_event_name is missing"),
      (#"{"hook_event_name":"Stop"}"#, "hook_event_name is \"Stop\", expected PreToolUse or PermissionRequest"),
      (#"{"hook_event_name":"PreToolUse"}"#, "tool_name is missing"),
      (#"{"hook_event_name":"PreToolUse","tool_name":7}"#, "tool_name is missing"),
    ])
  func `another input is a failure that refuses nothing`(_ input: String, _ words: String) {
    let failure = #expect(throws: CommandFailure.self) { try HookRequest(parsing: Array(input.utf8)) }
    // The agent takes 2 for a refusal.
    #expect(failure?.exit == .failed)
    #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
  }
}
