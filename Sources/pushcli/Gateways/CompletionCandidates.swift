import ArgumentParser
import CSounds
import Dispatch
import Foundation
import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage
import Synchronization

/// The candidates for shell completion: names of the gateway that the command line selects, and fixed words.
///
/// If the gateway does not answer within ``timeout``, there are no candidates, so that the shell is not blocked for
/// long.
enum CompletionCandidates {
  static let devices = kind { line, start in await line.list(.devices, "name", start) }
  static let persons = kind { line, start in await line.list(.persons, "name", start) }
  static let groups = kind { line, start in await line.list(.groups, "name", start) }
  static let apps = kind { line, start in await line.list(.apps, "topic", start) }
  static let keys = kind { line, start in await line.list(.keys, "key_id", start) }
  static let teams = kind { line, start in await line.list(.teams, "team_id", start) }
  static let channels = kind { line, start in await line.list(.channels, "id", start) }
  static let invitations = kind { line, start in await line.list(.invitations, "id", start) }
  static let shares = kind { line, start in await line.list(.shares, "id", start) }
  static let tokens = kind { line, start in await line.list(.tokens, "name", start) }
  static let senders = kind { line, start in await line.list(.senders, "name", start) }
  static let eventTargets = kind { line, start in await line.list(.eventTargets, "name", start) }
  static let expectations = kind { line, start in await line.list(.expectations, "sender", start) }
  static let certificates = kind { line, start in await line.list(.certificates, "id", start) }
  static let faults = kind { line, start in await line.list(.faults, "name", start) }
  /// `DEVICE/TOPIC` or `GROUP/TOPIC` for all registrations.
  static let targets = kind { line, start in await line.targets(start) }
  /// The categories of the app in the command line, else of all apps.
  static let categories = kind { line, _ in await line.categories() }
  /// `name=value` for preferences of the scope in the command line.
  static let choices = kind { line, _ in line.choices() }
  /// Events of the delivery log, separated by commas.
  static let events = kind { _, start in
    CompletionCandidates.listed(DeliveryEvent.allCases.map(\.rawValue), after: start)
  }
  static let reasons = CompletionKind.list(Reason.allCases.map(\.rawValue))
  static let sounds = CompletionKind.list(
    ["none"] + (0..<sound_count()).map { unsafe String(cString: sound_name($0)) }.sorted())
  static let environments = CompletionKind.list(OptionValue.environments)
  static let keyEnvironments = CompletionKind.list(OptionValue.keyEnvironments)

  /// The maximum time for the gateway's answer.
  private static let timeout = DispatchTimeInterval.seconds(2)

  /// Makes a completion from the candidates that `find` returns; only candidates with the written text at their
  /// beginning are shown.
  private static func kind(
    _ find: @escaping @Sendable (CompletedLine, String) async -> [String]
  ) -> CompletionKind {
    .custom { words, index, start in
      let line = CompletedLine(words: words, index: index)
      let found = Mutex<[String]>([])
      let done = DispatchSemaphore(value: 0)
      // Completion runs on the main thread, which has no other work.
      Task.detached {
        let names = await find(line, start)
        found.withLock { $0 = names }
        done.signal()
      }
      _ = done.wait(timeout: .now() + timeout)
      return found.withLock { $0 }.filter { $0.hasPrefix(start) }
    }
  }

  /// Returns the candidates for the next element of a list with commas.
  static func listed(_ names: [String], after start: String) -> [String] {
    let place = start.lastIndex(of: ",").map { start.index(after: $0) } ?? start.startIndex
    let before = start[..<place]
    let given = Set(before.split(separator: ",").map(String.init))
    return names.filter { !given.contains($0) }.map { before + $0 }
  }
}

extension CompletedLine {
  /// The maximum number of offered names; a longer list is not useful.
  private static let maximumNames = 200

  private var state: StateOptions { StateOptions(state: value("--state"), gateway: value("--gateway")) }

  /// Returns one member of each row of a list of the gateway.
  func list(_ path: AdminPath, _ member: String, _ start: String) async -> [String] {
    await rows(path, start).compactMap { $0[member] as? String }
  }

  private func rows(_ path: AdminPath, _ start: String) async -> [[String: Any]] {
    let query = "limit=\(CompletedLine.maximumNames)&filter=\(pathPart(start))"
    guard let admin = try? await Admin(state) else { return [] }
    defer { admin.close() }
    guard let body = try? await admin.bytes(path() + "?" + query) else { return [] }
    return (try? JSONSerialization.jsonObject(with: Data(body))) as? [[String: Any]] ?? []
  }

  /// Returns each device or group with each of its apps.
  func targets(_ start: String) async -> [String] {
    let name = String(start.prefix { $0 != "/" })
    func targets(_ row: [String: Any], _ apps: String) -> [String] {
      guard let device = row["name"] as? String else { return [] }
      return (row[apps] as? [String] ?? []).map { device + "/" + $0 }
    }
    let (devices, groups) = (await rows(.devices, name), await rows(.groups, name))
    return devices.flatMap { targets($0, "apps") } + groups.flatMap { targets($0, "topics") }
  }

  func categories() async -> [String] {
    let target = value("--to").flatMap { to in to.firstIndex(of: "/").map { String(to[to.index(after: $0)...]) } }
    let named = value("--app") ?? value("--topic") ?? target
    let topics = if let named { [named] } else { await list(.apps, "topic", "") }
    guard let admin = try? await Admin(state) else { return [] }
    defer { admin.close() }
    var names: Set<String> = []
    for topic in topics {
      let records: [CategoryRecord]? = try? await admin.get(AdminPath.categories(topic))
      names.formUnion((records ?? []).map(\.category))
    }
    return names.sorted()
  }

  func choices() -> [String] {
    let scope: Preference.Scope =
      value("--category") != nil ? .category : value("--app") != nil ? .app : .everything
    let choices = Preference.choices(of: scope)
    // bash splits words at =, which is a word itself.
    if index >= 2, index < words.count, words[index - 1] == "=" {
      return choices.first { $0.listedName == words[index - 2] }?.suggestions(in: scope) ?? []
    }
    return choices.flatMap { choice in
      let values = choice.suggestions(in: scope).map { choice.completedName + "=" + $0 }
      // With a single known word, other values are possible too.
      return values.count > 1 ? values : [choice.completedName + "="] + values
    }
  }
}

extension Preference {
  /// Its name in an assignment; without `NAME` if the user supplies that part.
  fileprivate var completedName: String { listedName.hasSuffix(".NAME") ? String(listedName.dropLast(4)) : listedName }

  /// The values that are words, as quoted in the documentation; empty if any value is valid.
  fileprivate func suggestions(in scope: Scope) -> [String] {
    (values(in: scope) ?? "").matches(of: /`([a-z]+)`/).map { String($0.1) }
  }
}
