import Foundation
import Glibc
import PushCore

/// The device that a command receives for, and the decision to enroll it first.
enum DeviceChoice: Equatable {
  /// A device with credentials in the state folder.
  case known(String)
  /// A device to enroll, because the user requested it or the folder has no device yet.
  case enroll(String)
  /// An unknown name next to known devices. The user is asked, because a mistyped name would also enroll a new device.
  case ask(String, nearest: String?)

  /// The name of the first device, if the user gives none.
  static let firstName = "me"

  /// - Parameters:
  ///   - name: the given name; nil if there is none.
  ///   - known: the names in the state folder.
  ///   - isEnrolling: true if the user permits a new device.
  /// - Throws: ``CommandFailure`` of wrong usage if there are several devices and none was named.
  init(name: String?, known: [String], isEnrolling: Bool) throws(CommandFailure) {
    if let name {
      if known.contains(name) {
        self = .known(name)
      } else if isEnrolling || known.isEmpty {
        self = .enroll(name)
      } else {
        self = .ask(name, nearest: Suggestions.nearest(to: name, among: known))
      }
    } else if let only = known.first {
      guard known.count == 1 else {
        throw CommandFailure(.usage, "name the device with --device: there are \(DeviceChoice.list(known))")
      }
      self = .known(only)
    } else {
      self = .enroll(DeviceChoice.firstName)
    }
  }

  private static func list(_ names: [String]) -> String {
    let names = names.sorted()
    guard names.count > 5 else { return names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "") }
    return names.prefix(5).joined(separator: ", ") + " and \(names.count - 5) more"
  }

  /// Returns the final name, after a question to the user if one is needed.
  ///
  /// - Returns: the device's name, and true if it is to be enrolled.
  /// - Throws: ``CommandFailure`` if the device does not exist and the user declines to enroll it.
  func settled() throws(CommandFailure) -> (name: String, isNew: Bool) {
    switch self {
    case .known(let name): return (name, false)
    case .enroll(let name): return (name, true)
    case .ask(let name, let nearest):
      let advice = nearest.map { ": did you mean \($0)?" } ?? ""
      guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
        throw CommandFailure(
          .suppressed, "there is no device \(name) here\(advice.isEmpty ? ": " : advice + " ")--enroll makes a new one")
      }
      Output.ask("There is no device \(name) here\(advice.isEmpty ? "." : advice) Enroll a new one? [y/N] ")
      guard ["y", "yes"].contains(readLine()?.lowercased()) else {
        throw CommandFailure(.suppressed, "there is no device \(name) here, and none was made")
      }
      return (name, true)
    }
  }
}
