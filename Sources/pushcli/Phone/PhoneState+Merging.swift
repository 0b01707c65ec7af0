import Foundation
import GatewayProtocol

extension PhoneState {
  /// Adds the content of another history of the same device that this one lacks.
  ///
  /// All entries get new ordinals, so that no ordinal refers to another push than before.
  mutating func merge(_ other: PhoneState) {
    let alerts = alerts
    let known = Set((entries.map(\.push) + alerts.map(\.push)).map { PushKey($0) })
    func isNew(_ push: DevicePush) -> Bool { !known.contains(PushKey(push)) }
    let readElsewhere = Set(other.entries.filter(\.isRead).map { PushKey($0.push) })
    let all =
      entries.map { ($0.push, $0.isRead || readElsewhere.contains(PushKey($0.push)), $0.answer) }
      + other.entries.filter { isNew($0.push) }.map { ($0.push, $0.isRead, $0.answer) }
    let sorted = all.enumerated().sorted {
      ($0.element.0.received, $0.offset) < ($1.element.0.received, $1.offset)
    }
    var ordinals: [PushKey: Int] = [:]
    entries = sorted.suffix(Self.maximumEntries).map { _, element in
      defer { nextOrdinal += 1 }
      ordinals[PushKey(element.0)] = nextOrdinal
      return Entry(ordinal: nextOrdinal, push: element.0, isRead: element.1, answer: element.2)
    }
    self.alerts = (alerts + other.alerts.filter { isNew($0.push) }).suffix(Self.maximumAlerts).map { alert in
      defer { if ordinals[PushKey(alert.push)] == nil { nextOrdinal += 1 } }
      return QueuedAlert(
        ordinal: ordinals[PushKey(alert.push)] ?? nextOrdinal, push: alert.push, isPresented: alert.isPresented)
    }
    snoozed = (snoozed + other.snoozed.filter { isNew($0.alert.push) }).compactMap { one in
      ordinals[PushKey(one.alert.push)].map {
        SnoozedAlert(alert: QueuedAlert(ordinal: $0, push: one.alert.push), until: one.until)
      }
    }.suffix(Self.maximumSnoozed)
    if case .app(let topic, _) = place.screen { place.screen = .app(topic: topic, selected: nil) }

    let isLater = other.epoch == epoch && other.lastSeq > lastSeq
    for app in other.apps {
      if let index = apps.firstIndex(where: { $0.app.topic == app.app.topic }) {
        if isLater { apps[index].badge = app.badge }
      } else {
        apps.append(app)
      }
    }
    if isLater { lastSeq = other.lastSeq }
    for answer in other.pendingAnswers where !pendingAnswers.contains(answer) { apply(.pending(answer)) }
    droppedCount = max(droppedCount, other.droppedCount)
  }
}
