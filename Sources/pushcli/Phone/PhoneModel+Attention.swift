extension PhoneModel {
  /// The alerts that a button is for now.
  var settledAlerts: [QueuedAlert] {
    guard let group else { return [] }
    let settled = group.members.filter { attention?.settled.contains($0.ordinal) ?? false }
    return settled.isEmpty ? [group.first] : settled
  }

  /// Whether keys are for the alert on screen.
  var isAlertReady: Bool { attention.map { $0.isReady && !$0.isElsewhere } ?? false }

  /// Which of the alert's buttons has the focus: the one on the right, unless the person moved it.
  var alertFocus: Int { min(focusedButton ?? .max, (group?.choices.count ?? 1) - 1) }

  /// Whether an alert is on screen, and keys are for the field that was being edited when it appeared.
  var isElsewhere: Bool { isEditing && attention?.isElsewhere ?? false }

  /// How long an alert is on screen before keys count for it, and the same for the next of those that the person is just
  /// answering.
  private static let (readinessTime, nextReadinessTime) = (Duration.milliseconds(500), Duration.milliseconds(150))

  /// Notes which alerts are in front of the person's eyes. Keys that are on their way then were meant for something else:
  /// for a group that has grown, they are for those that it had before.
  mutating func attend(hasAnswered: Bool) -> [PhoneEffect] {
    guard isAlertShown else {
      attention = nil
      return []
    }
    // The field was left in another way than for the alert.
    let isReturn = attention.map { $0.isElsewhere && !isEditing } ?? false
    let isSame = attention?.ordinal == alerts.first?.ordinal && !isReturn
    // Nothing more is asked for in a burst.
    if isSame, attention?.isWaiting ?? false { return [] }
    guard let group else { return [] }
    if isSame, let attention {
      guard !group.members.allSatisfy({ attention.settled.contains($0.ordinal) }) else { return [] }
      return [settle(group, keeping: attention, for: PhoneModel.readinessTime)]
    }
    let next = Attention(ordinal: group.first.ordinal, number: 0, isElsewhere: isEditing)
    return [settle(group, keeping: next, for: hasAnswered ? PhoneModel.nextReadinessTime : PhoneModel.readinessTime)]
  }

  private mutating func settle(_ group: AlertGroup, keeping attention: Attention, for time: Duration) -> PhoneEffect {
    attentionCount += 1
    self.attention = attention
    self.attention?.number = attentionCount
    self.attention?.settling = group.ordinals
    return .awaitReadiness(attentionCount, time)
  }

  /// Keys count from now on.
  mutating func noteReadiness(_ number: Int) {
    guard let current = attention, current.number == number, current.isWaiting else { return }
    attention?.isReady = true
    attention?.settled = current.settling
    attention?.settling = []
  }

  /// The person has turned from the field to the alert.
  mutating func turnToAlert() { attention?.isElsewhere = false }
}
