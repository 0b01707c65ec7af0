import Foundation
import PushPolicy

/// An app on the phone.
struct PhoneApp: Sendable, Equatable, Codable {
  var topic: String
  var name: String
  /// One emoji or two letters.
  var icon: String
}

/// One push as the gateway delivered it.
struct PhonePush: Sendable, Equatable, Codable {
  /// Its place in this device's mailbox; 0 for one that passes through and was never stored.
  var seq: UInt64
  var id: String
  var topic: String
  var app: PhoneApp
  var received: Date
  /// What policy lets through.
  var presentation: Presentation
  /// What the sender sent, as JSON.
  var payload: String
}

/// How things stand with the gateway.
enum PhoneConnection: Sendable, Equatable {
  case connecting
  case connected(gateway: String)
  case disconnected(lastConnected: Date?, retryAt: Date)
}

/// What happens to the phone.
enum PhoneMessage: Sendable {
  case key(Key)
  case resized(Size)
  case connection(PhoneConnection)
  case push(PhonePush)
  /// An alert is over elsewhere: answered on another device, replaced, expired.
  case retract(id: String)
  /// The gateway had to drop this many waiting pushes.
  case gap(dropped: Int)
  /// All apps that are registered on this device, in their order.
  case apps([PhoneApp])
  /// Another minute began.
  case tick
  /// The process is asked to end (SIGTERM, SIGINT, SIGHUP) or its terminal is gone.
  case terminate
}

/// What the phone wants done.
enum PhoneEffect: Sendable, Equatable {
  /// Store the model, so that a kill loses nothing (L2).
  case save
  /// These parts of a push were presented just now. An alert that had to wait is told when it appears, after the rest.
  case presented(id: String, parts: [Part])
  /// The person's choice: `view`, `close` or `ok`.
  case answer(id: String, action: String)
  case play(sound: String)
  case state(silent: Bool)
  case quit
}
