import Foundation
import GatewayProtocol
import PushCore
import PushPolicy
import TerminalUI

/// The state of the connection to the gateway.
enum PhoneConnection: Sendable, Equatable {
  case connecting
  case connected(gateway: String)
  /// Disconnected, with the reason as text.
  case disconnected(lastConnected: Date?, retryAt: Date, reason: String = "")
  /// The gateway no longer accepts this device; the client does not connect again.
  case refused
}

/// An operation of unknown duration (L6).
enum PhoneActivity: Sendable, Hashable { case saving, sending, reporting }

/// An event that the phone handles.
enum PhoneMessage: Sendable {
  case input(TerminalInput)
  case connection(PhoneConnection)
  /// A push was added to the history, by the gateway or by another screen of this device.
  case push(DevicePush)
  /// The first `count` changes of this screen are in the history. `history` is set if other screens have changed it
  /// too.
  case stored(count: Int, history: PhoneState?)
  /// An alert ended on another device: it was replaced, it expired, or the gateway does not report how it was
  /// answered.
  case retract(id: String)
  /// A push was answered on another screen.
  case answeredElsewhere(id: String, GivenAnswer)
  /// The sender of this push of an app has retracted it.
  case takenBack(id: String, topic: String)
  /// The gateway has an answer to the push; the action is nil if there was nothing to answer.
  case answered(id: String, action: String?)
  /// Answers that the gateway has not confirmed must be sent again.
  case answersDue
  /// Keys apply to the alert from now on, unless it has closed since.
  case alertReady(Int)
  /// The gateway dropped this number of queued pushes, as recorded in the history.
  case gap(dropped: Int)
  /// All apps that are registered on this device, in their order.
  case apps([DeviceApp])
  /// The user's preferences as the gateway stores them.
  case preferences(Preferences)
  /// A message for the user, in one line.
  case notice(String)
  /// An operation has ended, successfully or not.
  case finished(PhoneActivity, succeeded: Bool, notice: String?)
  /// The progress indicator advances.
  case turned
  /// A burst of alerts may be reported now.
  case paused
}

/// An action that the phone requests.
enum PhoneEffect: Sendable, Equatable {
  /// Saves a change, so that a kill of the process loses nothing (L2).
  case save(PhoneChange)
  /// Reports that these parts of a push were presented. A queued alert is reported when it appears, after the other
  /// parts.
  case presented(id: String, parts: [Part])
  /// Sends the user's answer: `view`, `close`, `ok` or an action of the category.
  case answer(id: String, action: String)
  /// Plays a sound at a volume from 0 to 100; of several at the same time, the most urgent one.
  case play(sound: String, volume: Int, urgency: InterruptionLevel)
  /// Sends the state of the device: its silent switch, and its Focus, or an empty name for none.
  case state(silent: Bool, focus: String)
  /// Changes preferences at the gateway.
  case change(PreferencesRequest)
  /// Connects now.
  case retry
  /// Posts ``PhoneMessage/turned`` after a short time.
  case awaitTurn
  /// Posts ``PhoneMessage/paused`` after a short time.
  case awaitPause
  /// Enables or disables clicks and the wheel.
  case mouse(Bool)
  /// Sends the push that the user has written.
  case send(PushDraft)
  /// Posts ``PhoneMessage/alertReady(_:)`` with this number after a delay, from which on keys apply to the new alert.
  case awaitReadiness(Int, Duration)
  /// Notifies the user outside of this screen.
  case notify(app: String, title: String, body: String)
  /// Copies text to the terminal's clipboard.
  case copy(String)
  /// Reports a push to the gateway as an advertisement.
  case reportAd(DevicePush)
  /// Turns the marketing of the push's app off at the gateway.
  case unsubscribe(DevicePush)
  /// Runs the user's command for a push that View opened.
  case open(DevicePush)
  /// Opens the link of a push.
  case openLink(DevicePush)
  /// Saves the attachment of a push to a file.
  case saveAttachment(AttachmentReference)
  case quit
}
