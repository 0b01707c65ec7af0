extension PhoneModel {
  /// The alerts to which a button applies now.
  var settledAlerts: [QueuedAlert] {
    guard let group else { return [] }
    let settled = group.members.filter { attention?.settled.contains($0.ordinal) ?? false }
    return settled.isEmpty ? [group.first] : settled
  }

  /// True if keys apply to the alert on screen.
  var isAlertReady: Bool { attention.map { $0.isReady && !$0.isElsewhere } ?? false }

  /// The index of the alert's button with the focus: the one on the right, unless the user moved the focus.
  var alertFocus: Int { min(focusedButton ?? .max, (group?.choices.count ?? 1) - 1) }

  /// True while an alert is on screen and keys go to the field that was being edited when it appeared.
  var isElsewhere: Bool { isEditing && attention?.isElsewhere ?? false }

  /// The time that an alert is on screen before keys apply to it, and the shorter time for the next alert after the
  /// user has answered one.
  private static let (readinessTime, nextReadinessTime) = (Duration.milliseconds(500), Duration.milliseconds(150))

  /// Updates the attention for the alerts on screen, and returns the effects. Keys pressed just before an alert
  /// appeared were meant for something else. If a group has grown, keys apply to its earlier alerts until the delay
  /// ends.
  mutating func attend(hasAnswered: Bool) -> [PhoneEffect] {
    guard isAlertShown else {
      attention = nil
      return []
    }
    // True if the field was left without turning to the alert.
    let isReturn = attention.map { $0.isElsewhere && !isEditing } ?? false
    let isSame = attention?.ordinal == alerts.first?.ordinal && !isReturn
    // During a burst, the delay is not started again.
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

  /// Makes keys apply to the alerts of this delay.
  mutating func noteReadiness(_ number: Int) {
    guard let current = attention, current.number == number, current.isWaiting else { return }
    attention?.isReady = true
    attention?.settled = current.settling
    attention?.settling = []
  }

  /// Directs keys to the alert instead of the field.
  mutating func turnToAlert() { attention?.isElsewhere = false }
}
