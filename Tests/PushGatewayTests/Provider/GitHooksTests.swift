import PushCore
import Testing

@testable import PushGateway

/// Events of GitHub and GitLab, in the parts of their bodies that are read.
@Suite struct GitHooksTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var kind: HookKind
    var body: String
    /// The title of the message, without the repository; nil if there is none.
    var title: String?
    var subject: String?
    var isResolved = false
    var ignored: String?

    var testDescription: String { title ?? ignored ?? "end of \(subject ?? "")" }

    static func github(
      _ body: String, _ title: String? = nil, of subject: String? = nil, ends: Bool = false, ignored: String? = nil
    ) -> Case {
      let body = #"{"repository":{"full_name":"a/b"},"sender":{"login":"ada"},\#(body)}"#
      return Case(kind: .github, body: body, title: title, subject: subject, isResolved: ends, ignored: ignored)
    }

    static func gitlab(
      _ body: String, _ title: String? = nil, of subject: String? = nil, ends: Bool = false, ignored: String? = nil
    ) -> Case {
      let body = #"{"project":{"path_with_namespace":"a/b"},"user_username":"ada",\#(body)}"#
      return Case(kind: .gitlab, body: body, title: title, subject: subject, isResolved: ends, ignored: ignored)
    }
  }

  /// The members of a deployment that name its cause, which is another kind of event by itself.
  static let cause = #""workflow_run":{"name":"Deploy","conclusion":"failure"},"check_run":{},"action":"created""#
  static let zeros = String(repeating: "0", count: 40)

  static let cases: [Case] = [
    .github(
      #""deployment_status":{"state":"failure","environment":"production"},\#(cause)"#,
      "deployment to production failed", of: "a/b deployment production"),
    .github(
      #""deployment_status":{"state":"success","environment":"production"}"#, of: "a/b deployment production",
      ends: true),
    .github(#""deployment_status":{"state":"queued"},\#(cause)"#, ignored: "deployment queued"),
    .github(
      #""action":"created","alert":{"number":20,"security_advisory":{"summary":"Slow"}}"#, "Dependabot alert #20",
      of: "a/b Dependabot alert 20"),
    .github(
      #""action":"fixed","alert":{"number":20,"security_advisory":{"summary":"Slow"}}"#, of: "a/b Dependabot alert 20",
      ends: true),
    .github(
      #""action":"reopened","alert":{"number":3,"secret_type":"key"}"#, "secret scanning alert #3",
      of: "a/b secret scanning alert 3"),
    .github(
      #""action":"created","alert":{"number":4,"rule":{"description":"Injection"}}"#, "code scanning alert #4",
      of: "a/b code scanning alert 4"),
    .github(#""action":"appeared_in_branch","alert":{"rule":{}}"#, ignored: "code scanning alert appeared_in_branch"),
    .github(#""action":"created","discussion":{"number":4,"title":"Colors"}"#, "#4 discussion opened"),
    .github(#""action":"labeled","discussion":{"number":4}"#, ignored: "discussion labeled"),
    .github(#""action":"created","discussion":{"number":4},"comment":{"body":"Yes"}"#, "#4 commented"),
    .github(#""action":"created","comment":{"body":"Yes"}"#, "commented on a commit"),
    .github(#""ref":"refs/tags/v1.0","after":"61137","commits":[],"head_commit":{}"#, "tagged v1.0"),
    .github(#""ref":"refs/tags/v1.0","after":"\#(zeros)","commits":[]"#, ignored: "deleted tag"),
    .github(#""ref":"refs/heads/new","after":"61137","commits":[]"#, ignored: "push without commits"),
    .gitlab(
      #""object_kind":"tag_push","ref":"refs/tags/v1.0","after":"82b3d","commits":[],"total_commits_count":0"#,
      "tagged v1.0"),
    .gitlab(#""object_kind":"tag_push","ref":"refs/tags/v1.0","after":"\#(zeros)""#, ignored: "deleted tag"),
    .gitlab(#""object_kind":"note","object_attributes":{"action":"update","note":"Yes"}"#, ignored: "note update"),
    .gitlab(#""object_kind":"note","object_attributes":{"note":"Yes"},"issue":{"iid":4}"#, "#4 commented"),
    .gitlab(
      #""object_kind":"deployment","status":"failed","environment":"staging""#, "deployment to staging failed",
      of: "a/b deployment staging"),
    .gitlab(
      #""object_kind":"deployment","status":"success","environment":"staging""#, of: "a/b deployment staging",
      ends: true),
    .gitlab(#""object_kind":"deployment","status":"running""#, ignored: "deployment running"),
  ]

  @Test(arguments: cases) func `an event becomes a message, ends one, or is ignored`(_ one: Case) throws {
    switch try WebhookFormat.read(Array(one.body.utf8), Hook(one.kind)) {
    case .ignored(let reason): #expect(reason == one.ignored)
    case .message(let message):
      #expect(one.ignored == nil)
      #expect(message.subject == one.subject && message.isResolved == one.isResolved)
      #expect(message.fields[.title] == one.title.map { "a/b: \($0)" })
    }
  }
}
