import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

/// How things stand with the gateway.
enum PhoneConnection: Sendable, Equatable {
  case connecting
  case connected(gateway: String)
  /// In words why.
  case disconnected(lastConnected: Date?, retryAt: Date, reason: String = "")
  /// The gateway does not know this device any longer, and it is not asked again.
  case refused
}

/// What takes a while, of a length that nobody knows (L6).
enum PhoneActivity: Sendable, Hashable { case saving, sending, reporting }

/// What happens to the phone.
enum PhoneMessage: Sendable {
  case input(TerminalInput)
  case connection(PhoneConnection)
  /// A push is in the history now, from the gateway or through another screen of this device.
  case push(DevicePush)
  /// So many changes of this screen are in the history, which other screens have changed where it is given.
  case stored(count: Int, history: PhoneState?)
  /// An alert is over elsewhere: replaced, expired, or answered at a gateway that does not say how.
  case retract(id: String)
  /// A push was answered on another screen.
  case answeredElsewhere(id: String, GivenAnswer)
  /// The sender of this push of an app has taken it back.
  case takenBack(id: String, topic: String)
  /// The gateway has an answer to the push; nil: there was nothing to answer.
  case answered(id: String, action: String?)
  /// Answers that the gateway has not confirmed are to be sent again.
  case answersDue
  /// Keys count for the alert from now on, unless it has gone since.
  case alertReady(Int)
  /// The gateway had to drop this many waiting pushes, as the history has it.
  case gap(dropped: Int)
  /// All apps that are registered on this device, in their order.
  case apps([DeviceApp])
  /// The person's choices, as the gateway has them.
  case preferences(Preferences)
  /// Something that the person should know, in a line.
  case notice(String)
  /// What took a while is over, well or not.
  case finished(PhoneActivity, succeeded: Bool, notice: String?)
  /// The sign of what takes a while turns.
  case turned
  /// What came meanwhile may be told.
  case paused
}

/// What the phone wants done.
enum PhoneEffect: Sendable, Equatable {
  /// Store a change, so that a kill loses nothing (L2).
  case save(PhoneChange)
  /// These parts of a push were presented just now. An alert that had to wait is told when it appears, after the rest.
  case presented(id: String, parts: [Part])
  /// The person's choice: `view`, `close`, `ok` or a category's action.
  case answer(id: String, action: String)
  /// Plays a sound at a volume from 0 to 100; of several in a moment the most urgent one.
  case play(sound: String, volume: Int, urgency: InterruptionLevel)
  /// How the device is set: its silent switch, and its Focus or the empty name.
  case state(silent: Bool, focus: String)
  /// Changes choices at the gateway.
  case change(PhonePreferenceChange)
  /// Connects now.
  case retry
  /// Says soon that the sign of what takes a while turns.
  case awaitTurn
  /// Says soon that a burst may have ended.
  case awaitPause
  /// Whether clicks and the wheel come here.
  case mouse(Bool)
  /// Sends what the person has written.
  case send(PushDraft)
  /// Says after a while that keys count for the alert that has just come in front of the person's eyes.
  case awaitReadiness(Int, Duration)
  /// Tells the person outside of this screen.
  case notify(app: String, title: String, body: String)
  /// Puts text into the terminal's clipboard.
  case copy(String)
  /// Tells the gateway that a push was an advertisement.
  case reportAd(DevicePush)
  /// Has the person's command see a push that View opened.
  case open(DevicePush)
  /// Opens the link of a push.
  case openLink(DevicePush)
  case quit
}

/// Choices for everything, for an app or for one of its categories, as assignments such as `badge=off`.
struct PhonePreferenceChange: Sendable, Equatable {
  var settings: [String]
  var app: String?
  var category: String?
}
