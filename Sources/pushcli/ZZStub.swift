import Foundation
import PushGateway
import PushPolicy

func displayWidth(_ s: String) -> Int { s.count }
struct PhoneApp: Sendable, Equatable, Codable {
  var topic: String
  var name: String
  var icon: String
}
struct PhonePush: Sendable, Equatable, Codable {
  var seq: UInt64
  var id: String
  var topic: String
  var app: PhoneApp
  var received: Date
  var presentation: Presentation
  var payload: String
}
enum PlainText { static func paragraph(for p: PhonePush) -> String { "\(p)" } }
enum Phone { static func run(_ s: DeviceSession, device: String, folder: StateFolder) async throws {} }
