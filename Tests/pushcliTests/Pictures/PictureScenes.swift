import Foundation
import GatewayProtocol
import PushPolicy
import TerminalUI

@testable import pushcli

/// The content of the pictures: a phone that receives the messages of a gateway and the input of a user.
struct PictureScenes {
  let appearance: Appearance

  private static let news = DeviceApp(topic: "com.example.news", name: "News", icon: "📰")
  private static let mail = DeviceApp(topic: "com.example.inbox", name: "Mail", icon: "📬")
  private static let trains = DeviceApp(topic: "com.example.trains", name: "Trains", icon: "🚆")
  private static let builds = DeviceApp(topic: "com.example.builds", name: "Builds", icon: "🔨")
  private static let weather = DeviceApp(topic: "com.example.weather", name: "Weather", icon: "⛅")

  private static let badges: [PhoneMessage] = [
    .push(Sample.push(1, mail, badge: 12)), .push(Sample.push(2, news, badge: 3)),
    .push(Sample.push(3, builds, badge: 1)),
  ]
  private static let train = AlertPresentation(
    title: "Train in 5 Minutes", body: "Platform 4. Change at Basel for Zürich HB.")
  private static let storm = AlertPresentation(title: "Thunderstorm at 18:00", body: "Gusts of up to 70 km/h.")
  private static let lunch = AlertPresentation(
    title: "Lunch on Thursday?", body: "Anna asks whether one o'clock suits.")
  private static let minutes = AlertPresentation(
    title: "Minutes of the Meeting", body: "Three points are open until Friday.")

  private static func question(_ actions: [AlertAction]) -> AlertPresentation {
    var alert = AlertPresentation(title: "Deploy to Production?", body: "Build 4711 is green.")
    alert.offer(actions)
    return alert
  }
  private static let options = question([
    AlertAction(id: "approve", title: "Approve"), AlertAction(id: "later", title: "In an Hour"),
    AlertAction(id: "reject", title: "Reject", isDestructive: true),
  ])
  private static let asked = question([
    AlertAction(id: "yes", title: "Deploy"), AlertAction(id: "no", title: "Wait"),
  ])

  /// All pictures for this appearance.
  var files: [(name: String, file: PictureFile)] {
    let answered: [PhoneMessage] = [
      .push(Sample.push(4, Self.trains, alert: Self.train)), .key(.character("c")),
      .push(Sample.push(5, Self.mail, alert: Self.lunch)), .key(.character("c")),
      .push(Sample.push(6, Self.mail, alert: Self.minutes)), .key(.character("c")),
      .push(Sample.push(7, Self.weather, alert: Self.storm)), .key(.character("c")),
    ]
    let alert: [PhoneMessage] = [.push(Sample.push(4, Self.trains, alert: Self.train))]
    let sheet: [PhoneMessage] = [.push(Sample.push(4, Self.builds, alert: Self.options)), .key(.character("v"))]
    return [
      (
        "home",
        still("The phone's home screen: five apps, three of them with a badge", [], Size(columns: 80, rows: 16))
      ),
      ("alert", still("An alert over the home screen, with Close and View", alert)),
      ("actions", still("Actions of an alert, from below: Reject in red on top, then Approve and In an Hour", sheet)),
      ("center", still("The center: what came, by app", answered + [.key(.character("2"))])),
      (
        "settings",
        still("The settings: badges, sounds and alerts, for everything and for each app", [.key(.character("3"))])
      ),
      ("small", still("An alert at 40 by 12 characters", alert, Size(columns: 40, rows: 12))),
      ("ask", moving),
    ]
  }

  private func still(
    _ title: String, _ messages: [PhoneMessage], _ size: Size = Size(columns: 80, rows: 24)
  ) -> PictureFile {
    PictureFile(title: title, frame: phone(size, messages).view(size: size))
  }

  /// Returns a phone with five apps and some badges, in a terminal that draws half-circles, at ``Sample/now``.
  private func phone(_ size: Size, _ messages: [PhoneMessage]) -> PhoneModel {
    var phone = PhoneModel(device: "me")
    (phone.timeZone, phone.requestedAppearance) = (TimeZone(secondsFromGMT: 0)!, appearance)
    phone.form.hasHalfCircles = true
    let start: [PhoneMessage] = [
      .resized(size), .apps([Self.news, Self.mail, Self.trains, Self.builds, Self.weather]),
      .connection(.connected(gateway: "pushgateway")),
    ]
    for message in start + Self.badges + messages { phone.happens(message) }
    return phone
  }

  // MARK: The animation

  private static let columns = 76
  /// The command of the sender, and its output.
  private static let command = [
    "$ pushcli ask --to me/com.example.builds --title \"Deploy to Production?\" \\",
    "    --body \"Build 4711 is green.\" --action yes=Deploy --action no=Wait",
  ]

  /// A question that is asked in the lower window, appears in the upper one, and is answered.
  private var moving: PictureFile {
    let size = Size(columns: Self.columns, rows: 16)
    var phone = phone(size, [])
    var scenes = [(begin: 0.0, frame: phone.view(size: size))]
    func show(_ begin: Double) { scenes.append((begin, phone.view(size: size))) }
    // Keys have no effect on the alert until it has been seen.
    _ = phone.update(.push(Sample.push(4, Self.builds, alert: Self.asked)), now: Sample.now)
    show(3.6)
    if let attention = phone.attention { _ = phone.update(.alertReady(attention.number), now: Sample.now) }
    show(4.1)
    phone.happens(.key(.character("v")))
    show(5.4)
    phone.happens(.key(.character("1")))
    show(7)
    return PictureFile(
      title: "A question is asked in one terminal, arrives as an alert on the phone in another, and is answered there",
      windows: [.init(size: size, scenes: scenes, still: 2), asking], duration: 10)
  }

  /// The terminal of the sender.
  private var asking: PictureFile.Window {
    let size = Size(columns: Self.columns, rows: 4)
    func frame(_ lines: [String], isTyping: Bool) -> Frame {
      var frame = Frame(size: size)
      for (row, line) in lines.enumerated() {
        precondition(line.count < size.columns, "it has no room: \(line)")
        frame.write(line, column: 0, row: row)
      }
      if isTyping, let last = lines.last { frame.write("▏", column: last.count, row: lines.count - 1) }
      return frame
    }
    var scenes = [(begin: 0.0, frame: frame(["$ "], isTyping: true))]
    var begin = 0.8
    for (row, line) in Self.command.enumerated() {
      for count in stride(from: row == 0 ? 8 : 12, through: line.count + 7, by: 8) {
        scenes.append((begin, frame(Self.command.prefix(row) + [String(line.prefix(count))], isTyping: true)))
        begin += 0.12
      }
    }
    let still = scenes.count
    scenes.append((3.4, frame(Self.command, isTyping: false)))
    scenes.append((7.1, frame(Self.command + ["yes", "$ "], isTyping: true)))
    return PictureFile.Window(size: size, scenes: scenes, still: still)
  }
}
