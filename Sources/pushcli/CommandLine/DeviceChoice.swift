import Foundation
import GatewayClient
import Glibc
import PushCore
import TerminalUI

/// Which device a command receives for, and whether it is to be enrolled first.
enum DeviceChoice: Equatable {
  /// One that has its credentials in the state folder.
  case known(String)
  /// One to enroll: it was asked for, or there is none yet.
  case enroll(String)
  /// One that is new, where there are others: a name that was mistyped would be a new device, too.
  case ask(String, nearest: String?)

  /// What a first device is called where nobody names one.
  static let firstName = "me"

  /// - Parameters:
  ///   - name: the name that was given, if one was.
  ///   - known: the names in the state folder.
  ///   - isEnrolling: whether the person said that it may be new.
  /// - Throws: ``CommandFailure`` of wrong usage when there are several and none was named.
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

  /// The devices that have their credentials in a folder.
  static func known(in folder: StateFolder) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.devicesPath)) ?? [])
      .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }
  }

  /// The name, after the person was asked where that is needed.
  ///
  /// - Returns: the device's name, and whether it is to be enrolled.
  /// - Throws: ``CommandFailure`` when there is no such device, and nobody wants it.
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
