import GatewayProtocol
import PushPolicy

/// What is in front of the person: the first alert that waits, and with it all others of its app, unless one is a question
/// or urgent, which stands alone.
struct AlertGroup: Sendable, Equatable {
  /// Oldest first; never empty.
  let members: [QueuedAlert]

  init?(_ alerts: [QueuedAlert]) {
    guard !alerts.isEmpty else { return nil }
    members = alerts.indices.filter { AlertGroup.holds($0, alerts) }.map { alerts[$0] }
  }

  /// Whether the alert at this place of the queue is in front.
  static func holds(_ index: Int, _ alerts: [QueuedAlert]) -> Bool {
    index == 0
      || !alerts[0].standsAlone && !alerts[index].standsAlone
        && alerts[index].push.app.topic == alerts[0].push.app.topic
  }

  var first: QueuedAlert { members[0] }
  var isBurst: Bool { members.count > 1 }
  var ordinals: Set<Int> { Set(members.map(\.ordinal)) }

  /// The one or two buttons (A2, A6): of several alerts Close All and View.
  var choices: [AlertChoice] {
    isBurst
      ? [AlertChoice(title: "Close All", action: "close"), AlertChoice(title: "View", action: "view")] : first.choices
  }

  /// The one thread that all of them belong to; empty for none.
  var thread: String {
    let thread = first.push.threadID
    return isBurst && members.allSatisfy { $0.push.threadID == thread } ? thread : ""
  }
}

extension QueuedAlert {
  /// The action of its cancelling button.
  var cancellation: String { choices.first { $0.action == "close" || $0.action == "ok" }?.action ?? "close" }

  /// What View of a group is for it: one whose only button is OK has been seen.
  var viewing: String { choices.contains { $0.action == "view" } ? "view" : cancellation }
}
