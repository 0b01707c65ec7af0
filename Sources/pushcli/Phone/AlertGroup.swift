import GatewayProtocol
import PushPolicy

/// The alerts that are shown together: the first queued alert and all others of its app. An alert that is a question
/// or urgent is shown alone.
struct AlertGroup: Sendable, Equatable {
  /// The alerts of the group, oldest first; never empty.
  let members: [QueuedAlert]

  init?(_ alerts: [QueuedAlert]) {
    guard !alerts.isEmpty else { return nil }
    members = alerts.indices.filter { AlertGroup.holds($0, alerts) }.map { alerts[$0] }
  }

  /// Returns true if the alert at this index of the queue belongs to the group on screen.
  static func holds(_ index: Int, _ alerts: [QueuedAlert]) -> Bool {
    index == 0
      || !alerts[0].standsAlone && !alerts[index].standsAlone
        && alerts[index].push.app.topic == alerts[0].push.app.topic
  }

  var first: QueuedAlert { members[0] }
  var isBurst: Bool { members.count > 1 }
  var ordinals: Set<Int> { Set(members.map(\.ordinal)) }

  /// The one or two buttons (A2, A6). Several alerts have Close All and View.
  var choices: [AlertAction] {
    isBurst
      ? [AlertAction(id: "close", title: "Close All"), AlertAction(id: "view", title: "View")] : first.choices
  }

  /// The thread that all alerts of the group belong to; empty if there is none.
  var thread: String {
    let thread = first.push.threadID
    return isBurst && members.allSatisfy { $0.push.threadID == thread } ? thread : ""
  }
}

extension QueuedAlert {
  /// The action of the alert's cancelling button.
  var cancellation: String { choices.first { $0.id == "close" || $0.id == "ok" }?.id ?? "close" }

  /// The action of View on a group for this alert. An alert whose only button is OK is acknowledged with that button.
  var viewing: String { choices.contains { $0.id == "view" } ? "view" : cancellation }
}
