import ArgumentParser
import GatewayProtocol
import PushPolicy

extension Apps {
  /// `pushcli apps category`: the actions in alerts of an event type.
  struct Category: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "category",
      abstract: "Add or change a category: a kind of event of an app, with up to four actions.",
      discussion: """
        An action is id=Title; an exclamation mark at the end makes it destructive, which is shown in red and on top. \
        One action is a button of the alert, more are an action sheet.

        Examples:
          pushcli apps category com.example.builds DEPLOY \\
            --action approve=Approve --action reject=Reject!
          pushcli apps category com.example.builds
        """)
    @Argument(help: "The app's topic.", completion: CompletionCandidates.apps) var topic: String
    @Argument(help: "The category, as the payload names it. (list all)", completion: CompletionCandidates.categories)
    var category: String?
    @Option(help: "id=Title, or id=Title! for a destructive one; repeatable.") var action: [ActionArgument] =
      []
    @OptionGroup var options: AdminOptions

    func run() async throws {
      let admin = try await options.admin
      let path = AdminPath.categories(topic)
      if let category {
        let request = CategoryRecord(category: category, actions: action.map(\.action))
        let _: CategoryRecord = try await admin.post(path, request)
      }
      let records: [CategoryRecord] = try await admin.get(path)
      options.print(lines: records, ["CATEGORY", "ACTIONS"]) { record in
        let words = record.actions.map { "\($0.id)=\($0.title)\($0.isDestructive ? "!" : "")" }
        return [record.category, words.joined(separator: "  ")]
      }
    }
  }
}

/// An action: `approve=Approve`, or `reject=Reject!` for a destructive one.
struct ActionArgument: ExpressibleByArgument {
  var action: AlertAction

  init?(argument: String) {
    guard let place = argument.firstIndex(of: "="), place != argument.startIndex else { return nil }
    var title = String(argument[argument.index(after: place)...])
    let isDestructive = title.hasSuffix("!")
    if isDestructive { title.removeLast() }
    guard !title.isEmpty else { return nil }
    action = AlertAction(id: String(argument[..<place]), title: title, isDestructive: isDestructive)
  }
}
