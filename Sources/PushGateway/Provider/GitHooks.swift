import PushCore

/// The bodies of code hosts: GitHub and GitLab.
///
/// The result of a pipeline of a branch, the state of an environment and a security alert are subjects: a failure makes a
/// message, and the next success retracts it.
enum GitHooks {
  // MARK: GitHub

  /// Reads an event of GitHub. The name of the event is in a header field, but its members name it, too.
  static func github(_ root: JSONValue) throws(MessageRefusal) -> HookReading {
    guard case .object = root else { throw .badMessage("the body is not an event of GitHub: expected a JSON object") }
    if root["zen"] != nil { return .ignored("ping") }
    let repository = text(root, "repository", "full_name") ?? text(root, "organization", "login") ?? "GitHub"
    let event = GitEvent(
      repository: repository, actor: text(root, "sender", "login") ?? "somebody", action: text(root, "action") ?? "")
    // A deployment names the workflow and the check that caused it.
    if let status = root["deployment_status"] {
      return deployment(
        event, to: text(status, "environment"), state: text(status, "state"), body: text(status, "description"),
        link: text(status, "log_url") ?? text(status, "target_url"))
    }
    if let alert = root["alert"] { return security(alert, event) }
    if let run = root["workflow_run"] { return workflow(run, event, text(root, "workflow", "id")) }
    for part in ["workflow_job", "check_run", "check_suite"] where root[part] != nil {
      return .ignored("\(part) \(event.action)")
    }
    if let review = root["review"], let request = root["pull_request"] {
      guard event.action == "submitted" else { return .ignored("review \(event.action)") }
      let state = text(review, "state")?.replacing("_", with: " ") ?? "reviewed"
      return event.message(request, "review: \(state)", body: text(review, "body"), link: text(review, "html_url"))
    }
    if let comment = root["comment"] {
      guard event.action == "created" else { return .ignored("comment \(event.action)") }
      let subject = root["issue"] ?? root["pull_request"] ?? root["discussion"]
      return event.message(
        subject ?? .null, subject == nil ? "commented on a commit" : "commented", body: text(comment, "body"),
        link: text(comment, "html_url"))
    }
    if let discussion = root["discussion"] {
      guard ["created", "answered"].contains(event.action) else { return .ignored("discussion \(event.action)") }
      let words = event.action == "created" ? "discussion opened" : "discussion answered"
      return event.message(discussion, words, body: nil, link: text(discussion, "html_url"))
    }
    if let request = root["pull_request"] { return pullRequest(request, event) }
    if let issue = root["issue"] {
      let known = ["opened", "reopened", "closed", "assigned"]
      guard known.contains(event.action) else { return .ignored("issue \(event.action)") }
      return event.message(issue, event.action, body: nil, link: text(issue, "html_url"))
    }
    if let release = root["release"] {
      guard event.action == "published" else { return .ignored("release \(event.action)") }
      let name = text(release, "name") ?? text(release, "tag_name") ?? "a release"
      return event.message("published \(name)", body: text(release, "body"), link: text(release, "html_url"))
    }
    if root["commits"] != nil { return push(root, event, link: text(root, "compare")) }
    return .ignored(event.action.isEmpty ? "unknown" : "unknown, with the action \(event.action)")
  }

  private static func workflow(_ run: JSONValue, _ event: GitEvent, _ id: String?) -> HookReading {
    let (name, branch) = (text(run, "name") ?? "workflow", text(run, "head_branch") ?? "")
    let subject = "\(event.repository) \(text(run, "workflow_id") ?? id ?? name) \(branch)"
    switch text(run, "conclusion") {
    case "success"?: return .message(HookMessage(subject: subject, isResolved: true, [:]))
    case "failure"?, "timed_out"?, "startup_failure"?:
      return event.failure(
        "\(name) failed", of: subject, body: [branch, text(run, "display_title")], link: text(run, "html_url"))
    case let other: return .ignored("workflow_run \(other ?? event.action)")
    }
  }

  private static func pullRequest(_ request: JSONValue, _ event: GitEvent) -> HookReading {
    let words: String
    switch event.action {
    case "opened", "reopened": words = event.action
    case "ready_for_review": words = "ready for review"
    case "review_requested": words = "review requested"
    case "closed": words = request["merged"] == .bool(true) ? "merged" : "closed"
    default: return .ignored("pull_request \(event.action)")
    }
    return event.message(request, words, body: nil, link: text(request, "html_url"))
  }

  /// Reads an alert of Dependabot, of the secret scanning or of the code scanning.
  private static func security(_ alert: JSONValue, _ event: GitEvent) -> HookReading {
    let (kind, summary) =
      if let advisory = alert["security_advisory"] {
        ("Dependabot alert", text(advisory, "summary"))
      } else if let rule = alert["rule"] {
        ("code scanning alert", text(rule, "description"))
      } else {
        ("secret scanning alert", text(alert, "secret_type_display_name") ?? text(alert, "secret_type"))
      }
    let number = text(alert, "number") ?? ""
    let subject = "\(event.repository) \(kind) \(number)"
    switch event.action {
    case "created", "reopened", "reintroduced", "auto_reopened", "reopened_by_user":
      return event.failure("\(kind) #\(number)", of: subject, body: [summary], link: text(alert, "html_url"))
    case "fixed", "resolved", "dismissed", "auto_dismissed", "closed_by_user":
      return .message(HookMessage(subject: subject, isResolved: true, [:]))
    default: return .ignored("\(kind) \(event.action)")
    }
  }

  // MARK: GitLab

  /// Reads an event of GitLab.
  static func gitlab(_ root: JSONValue) throws(MessageRefusal) -> HookReading {
    guard let kind = text(root, "object_kind") else {
      throw .badMessage("the body is not an event of GitLab: expected the member object_kind")
    }
    let details = root["object_attributes"] ?? .null
    let event = GitEvent(
      repository: text(root, "project", "path_with_namespace") ?? "GitLab",
      actor: text(root, "user", "username") ?? text(root, "user_username") ?? text(root, "user_name") ?? "somebody",
      action: text(details, "action") ?? text(root, "action") ?? "")
    let link = text(details, "url") ?? text(root, "project", "web_url")
    switch kind {
    case "pipeline": return pipeline(root, details, event)
    case "merge_request", "issue", "work_item":
      guard let word = gitlabActions[event.action] else { return .ignored("\(kind) \(event.action)") }
      return event.message(details, word, body: nil, link: link)
    case "note":
      // Older versions of GitLab send no action, and no event for an edited comment.
      guard event.action != "update" else { return .ignored("note update") }
      let subject = root["merge_request"] ?? root["issue"] ?? root["commit"] ?? root["snippet"] ?? .null
      return event.message(subject, "commented", body: text(details, "note"), link: link)
    case "release":
      guard event.action == "create" else { return .ignored("release \(event.action)") }
      let name = text(root, "name") ?? text(root, "tag") ?? "a release"
      return event.message("published \(name)", body: text(root, "description"), link: text(root, "url") ?? link)
    case "push", "tag_push": return push(root, event, link: link)
    case "deployment":
      return deployment(
        event, to: text(root, "environment"), state: text(root, "status"), body: text(root, "commit_title"),
        link: text(root, "deployable_url"))
    default: return .ignored(String(kind.prefix(64)))
    }
  }

  /// The words for the actions of GitLab that make a message.
  private static let gitlabActions = [
    "open": "opened", "reopen": "reopened", "close": "closed", "merge": "merged", "approved": "approved",
  ]

  private static func pipeline(_ root: JSONValue, _ details: JSONValue, _ event: GitEvent) -> HookReading {
    let branch = text(details, "ref") ?? ""
    let subject = "\(event.repository) pipeline \(branch)"
    switch text(details, "status") {
    case "success"?: return .message(HookMessage(subject: subject, isResolved: true, [:]))
    case "failed"?:
      let page = text(root, "project", "web_url").flatMap { web in
        text(details, "id").map { "\(web)/-/pipelines/\($0)" }
      }
      return event.failure(
        "pipeline failed", of: subject, body: [branch, text(root, "commit", "title")],
        link: text(details, "url") ?? page)
    case let other: return .ignored("pipeline \(other ?? "")")
    }
  }

  // MARK: Both

  private static func deployment(
    _ event: GitEvent, to environment: String?, state: String?, body: String?, link: String?
  ) -> HookReading {
    let environment = environment ?? "an environment"
    let subject = "\(event.repository) deployment \(environment)"
    switch state {
    case "success"?: return .message(HookMessage(subject: subject, isResolved: true, [:]))
    case "failure"?, "failed"?, "error"?:
      return event.failure("deployment to \(environment) failed", of: subject, body: [body], link: link)
    case let other: return .ignored("deployment \(other ?? event.action)")
    }
  }

  /// Reads a push to a branch, or a new tag.
  private static func push(_ root: JSONValue, _ event: GitEvent, link: String?) -> HookReading {
    let (ref, commits) = (text(root, "ref") ?? "", root["commits"]?.values ?? [])
    if ref.hasPrefix("refs/tags/") {
      guard let hash = text(root, "after"), hash.contains(where: { $0 != "0" }) else { return .ignored("deleted tag") }
      return event.message("tagged \(ref.dropFirst("refs/tags/".count))", body: text(root, "message"), link: link)
    }
    guard !commits.isEmpty else { return .ignored("push without commits") }
    let count = max(commits.count, root["total_commits_count"]?.whole ?? 0)
    let place = ref.replacing("refs/heads/", with: "")
    let lines = commits.prefix(Limits.maximumHookLines).compactMap { commit in
      text(commit, "message").map { $0.prefix { $0 != "\n" && $0 != "\r\n" } }
    }
    return event.message(
      "\(count) \(count == 1 ? "commit" : "commits") to \(place)", body: lines.joined(separator: "\n"), link: link)
  }

  /// Returns the text or the whole number at a path of members; nil if it is absent or empty.
  fileprivate static func text(_ value: JSONValue, _ path: String...) -> String? {
    var value = value
    for name in path {
      guard let next = value[name] else { return nil }
      value = next
    }
    guard let text = value.text ?? value.whole.map(String.init), !text.isEmpty else { return nil }
    return text
  }
}

/// An event of a code host.
private struct GitEvent {
  var repository: String
  /// The user who caused the event.
  var actor: String
  var action: String

  /// Returns the message about an issue or a request.
  func message(_ subject: JSONValue, _ words: String, body: String?, link: String?) -> HookReading {
    let number = (GitHooks.text(subject, "number") ?? GitHooks.text(subject, "iid")).map { "#\($0) " } ?? ""
    let title = GitHooks.text(subject, "title") ?? ""
    let lines = [title, body ?? ""].filter { !$0.isEmpty }
    return message(number + words, body: lines.joined(separator: "\n"), link: link)
  }

  func message(_ words: String, body: String?, link: String?) -> HookReading {
    let fields: [HookMessage.Field: String?] = [
      .title: "\(repository): \(words)", .subtitle: "by \(actor)", .body: body, .link: link, .thread: repository,
    ]
    return .message(HookMessage(fields))
  }

  /// Returns the message about a failure, which a success retracts.
  func failure(_ words: String, of subject: String, body: [String?], link: String?) -> HookReading {
    let lines = body.compactMap { $0 }.filter { !$0.isEmpty }
    let fields: [HookMessage.Field: String?] = [
      .title: "\(repository): \(words)", .body: lines.joined(separator: "\n"), .link: link, .thread: repository,
    ]
    return .message(HookMessage(subject: subject, fields))
  }
}
