import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

extension PhoneModel: ProgramModel {
  static let quit = PhoneEffect.quit

  static func message(for input: TerminalInput) -> PhoneMessage { .input(input) }

  /// Applies `message` at the time `now` and returns the effects, with the changes to save first.
  mutating func update(_ message: PhoneMessage, now: Date) -> [PhoneEffect] {
    let isFromPerson = if case .input(let input) = message { input.isFromPerson } else { false }
    return happen(now: now, isFromPerson: isFromPerson) { $0.take(message) }
  }

  /// Applies `body` at the time `now`, as ``update(_:now:)`` does for a message.
  ///
  /// - Parameter isFromPerson: True if the user caused the change, and therefore sees the next alert sooner.
  mutating func happen(
    now: Date, isFromPerson: Bool, _ body: (inout PhoneModel) -> [PhoneEffect]
  ) -> [PhoneEffect] {
    self.now = now
    let shown = attention?.ordinal
    var effects = wake() + body(&self)
    guard effects.last != .quit else { return takeChanges().map { .save($0) } + effects }
    effects += markAlertsPresented().map { .presented(id: $0, parts: [.alert]) }
    effects += attend(hasAnswered: isFromPerson && shown != nil && shown != alerts.first?.ordinal) + turn()
    return takeChanges().map { .save($0) } + effects
  }

  private mutating func take(_ message: PhoneMessage) -> [PhoneEffect] {
    switch message {
    case .input(let input): return take(input)
    case .connection(let connection):
      self.connection = connection
      return sendAnswers(state.pendingAnswers)
    case .push(let push): return receive(push)
    case .stored(let count, let history): return takeHistory(history, count)
    case .answered(let id, let action): noteAnswer(id, action)
    case .alertReady(let number): noteReadiness(number)
    case .answersDue: return sendAnswers(state.pendingAnswers)
    case .retract(let id): retract(id)
    case .answeredElsewhere(let id, let answer): takeAnswer(id, answer)
    case .takenBack(let id, let topic): takeBack(id, topic)
    case .gap(let dropped): take(in: .gap(dropped: dropped))
    case .apps(let apps): if apps != state.apps.map(\.app) { record(.apps(apps)) }
    case .preferences(let preferences): if preferences != state.preferences { record(.preferences(preferences)) }
    case .notice(let text): notice = text
    case .finished(let activity, let succeeded, let words): finish(activity, succeeded, words)
    case .turned:
      isTurning = false
      activityPhase += 1
    // Only the line-based client uses this message.
    case .paused: break
    }
    return []
  }

  private mutating func take(_ input: TerminalInput) -> [PhoneEffect] {
    switch input {
    case .key(let key): return press(key)
    case .mouse(let mouse): return point(mouse)
    case .resized(let size): self.size = size
    case .focus(let hasFocus):
      if hasFocus, !self.hasFocus { focusedAt = now }
      self.hasFocus = hasFocus
    case .background(let appearance): background = appearance
    case .tick, .line: break
    case .terminate: return quit()
    }
    return []
  }

  private mutating func press(_ key: Key) -> [PhoneEffect] {
    notice = nil
    if isHelpShown {
      if let step = key.step, !helpView.viewport.isWhole {
        helpOffset = step.offset(in: helpView.viewport)
      } else {
        isHelpShown = false
      }
      return []
    }
    return command(for: key).map { perform($0) } ?? []
  }

  // MARK: Operations in progress

  /// Schedules an advance of the progress indicator while an operation is in progress.
  private mutating func turn() -> [PhoneEffect] {
    guard isBusy, !isTurning, !isPlain else { return [] }
    isTurning = true
    return [.awaitTurn]
  }

  private mutating func finish(_ activity: PhoneActivity, _ succeeded: Bool, _ words: String?) {
    activities.remove(activity)
    if let words { notice = words }
    guard activity == .sending else { return }
    if succeeded { draft = nil } else { draft?.isSending = false }
  }

  // MARK: Commands

  mutating func perform(_ command: PhoneCommand) -> [PhoneEffect] {
    switch command {
    case .nothing: break
    case .quit: return quit()
    case .help: if size.holdsPhone { (isHelpShown, helpOffset) = (true, 0) }
    case .attendAlert: turnToAlert()
    case .retry:
      connection = .connecting
      return [.retry]
    case .toggleSilent:
      var settings = state.settings
      settings.isSilent.toggle()
      record(.settings(settings))
      return [.state(silent: settings.isSilent, focus: settings.focus)]
    case .toggleMouse:
      var settings = state.settings
      settings.usesMouse.toggle()
      record(.settings(settings))
      notice = settings.usesMouse ? "The mouse clicks here" : "The mouse selects text, as the terminal does"
      return [.mouse(settings.usesMouse)]
    case .show(let tab): show(tab)
    case .select(let step): select(step)
    case .choose(let key): choose(key)
    case .scroll(let step): scroll(step)
    case .jump(let step): jump(step)
    case .open: open()
    case .back: goBack()
    case .dismissNotice: record(.gapNoted)
    case .focus(let step): moveFocus(step)
    case .press(let button): return sheetInFront == nil ? press(button) : pick(button)
    case .pressFocused: return sheetInFront.map { pick($0.focus) } ?? press(alertFocus)
    case .closeAlerts: askWhichToClose()
    case .snooze: askHowLong()
    case .unsubscribe: askToUnsubscribe()
    case .permitCategory: askAboutCategory()
    case .leaveAlert: return leaveAlert()
    case .mark: mark()
    case .read: read()
    case .clear: clear()
    case .clearAll:
      sheet = ActionSheet(
        .clearAll, [AlertAction(id: "clear", title: "Clear All Notifications", isDestructive: true)])
    case .undo: undoClear()
    case .redo: redoClear()
    case .copy: return selectedEntry.map { [.copy($0.push.copiedText)] } ?? []
    case .openLink: return selectedEntry.map { [.openLink($0.push)] } ?? []
    case .saveAttachment:
      guard let attachment = selectedEntry?.push.attachment else { return [] }
      activities.insert(.saving)
      return [.saveAttachment(attachment)]
    case .reportAd:
      guard let push = selectedEntry?.push else { return [] }
      activities.insert(.reporting)
      return [.reportAd(push)]
    case .foldPayload: foldPayload()
    default: return performText(command)
    }
    return []
  }

  /// Performs the commands of text fields and of modal views with fields.
  private mutating func performText(_ command: PhoneCommand) -> [PhoneEffect] {
    switch command {
    case .search: beginSearch()
    case .setScope(let scope): center.scope = scope
    case .turnScope(let step):
      let scopes = centerScopes
      let index = (scopes.firstIndex(of: center.scope) ?? 0) + step
      center.scope = scopes[(index + scopes.count) % scopes.count]
    case .type(let character): type(character)
    case .erase: erase()
    case .endSearch: endSearch()
    case .cancelSearch: center.endSearch()
    case .turn(let step): settings?.turn(step, state)
    case .chooseSetting(let index): chooseSetting(index)
    case .edit: settings?.edit(state)
    case .endEdit: notice = settings?.endEdit(state)
    case .cancelEdit: settings?.typing = nil
    case .done: return completeSettings()
    case .cancel: cancelSettings()
    case .compose: beginDraft()
    case .chooseField(let index): draft?.field = PushDraft.Field(rawValue: index) ?? .title
    case .nextField(let step): draft?.moveField(step)
    case .nextApp(let step):
      let topics = apps.map(\.app.topic)
      draft?.turnApp(step, topics)
    case .send: return sendDraft()
    case .cancelDraft: cancelDraft()
    default: break
    }
    return []
  }

  /// The maximum length of a field's text in characters.
  static let maximumTextLength = 2_000

  private mutating func type(_ character: Character) {
    if draft != nil {
      draft?.edit { if $0.count < PhoneModel.maximumTextLength { $0.append(character) } }
    } else if let text = settings?.typing {
      if text.count < PhoneModel.maximumTextLength { settings?.typing = text + String(character) }
    } else if (center.search ?? "").count < PhoneModel.maximumTextLength {
      center.search = (center.search ?? "") + String(character)
    }
  }

  private mutating func erase() {
    if draft != nil {
      draft?.edit { $0 = String($0.dropLast()) }
    } else if let text = settings?.typing {
      settings?.typing = String(text.dropLast())
    } else {
      center.search = center.search.map { String($0.dropLast()) }
    }
  }
}

extension DevicePush {
  /// The texts of the push for the clipboard.
  var copiedText: String {
    presentation.listed != nil ? [text, link ?? ""].filter { !$0.isEmpty }.joined(separator: "\n") : text
  }
}
