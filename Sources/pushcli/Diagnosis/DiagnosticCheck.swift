import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import HTTP2Transport
import PushCore
import PushGateway
import PushStorage
import TerminalUI

/// The checks of `pushcli doctor`, with one finding each.
struct DiagnosticCheck {
  struct Finding: Codable, Sendable {
    enum State: String, Codable { case ok, warning, failed }
    var check: String
    var state: State
    /// The finding in words; unless all is well, with the remedy.
    var words: String

    static func ok(_ check: String, _ words: String) -> Finding { Finding(check: check, state: .ok, words: words) }
    static func warning(_ check: String, _ words: String) -> Finding {
      Finding(check: check, state: .warning, words: words)
    }
    static func failed(_ check: String, _ words: String) -> Finding {
      Finding(check: check, state: .failed, words: words)
    }

    /// Returns the finding about a certificate that is still valid.
    ///
    /// - Parameter advice: the action to take before it ends.
    static func certificate(_ check: String, _ name: String, days: Int64, _ advice: String) -> Finding {
      guard days < 30 else { return .ok(check, "\(name) is valid for \(days) days") }
      // Two weeks before the end, an automatic renewal should have happened.
      return .warning(check, "\(name) ends in \(days) days\(days < 14 ? ", and should be new by now" : ""): \(advice)")
    }
  }

  let folder: StateFolder
  var now = Date()
  /// True if a large database is also read as a whole.
  var isThorough = false

  private static let day: Int64 = 86_400
  /// The number of free bytes below which a day's pushes can fill the disk.
  private static let scarceSpace = 256 << 20

  func findings() async -> [Finding] {
    // Files of a folder that this user can't enter must not be reported as missing.
    guard unsafe access(folder.path, X_OK) == 0 || errno != EACCES else {
      let words = "\(folder.path) may not be used by this user: run the command as the gateway's own user"
      return [.failed("state folder", words), descriptors(), library(), versions(), terminal()]
    }
    return [
      storage(), log(), space(), await gateway(), await apps(),
      serverCertificate(),
      certificate("authority", folder.trustPath, "`pushcli certs rollover` makes the next one"), clock(), descriptors(),
      library(), versions(), terminal(),
    ].compactMap(\.self)
  }

  // MARK: The gateway

  private func storage() -> Finding {
    let check = "state folder"
    guard FileManager.default.fileExists(atPath: folder.path) else {
      return .warning(
        check,
        "\(folder.path) is not there: `pushcli serve` makes it, or --state names another"
          + folder.serviceHint)
    }
    guard FileManager.default.isWritableFile(atPath: folder.path) else {
      return .failed(check, "\(folder.path) can't be written: fix its owner and permissions")
    }
    do {
      let isWhole = try folder.checkDatabase(isThorough: isThorough)
      return .ok(
        check,
        isWhole
          ? "\(folder.path), and its database is sound"
          : "\(folder.path); its database is large and sound where it was looked at: --thorough reads every page")
    } catch {
      return .failed(check, "\(error)")
    }
  }

  /// Checks the delivery log. Returns nil if there is no log yet, and while a gateway writes it, since that gateway's
  /// health covers it.
  private func log() -> Finding? {
    let check = "delivery log"
    guard FileManager.default.fileExists(atPath: folder.logPath), folder.listening.isEmpty else { return nil }
    do {
      let isWhole = try folder.checkLog(isThorough: isThorough)
      guard let copy = folder.damagedLogs.last else {
        return .ok(
          check, "\(folder.logPath) is sound" + (isWhole ? "" : " where it was looked at: --thorough reads every page"))
      }
      return .warning(check, "\(copy) was damaged: `pushcli doctor --repair` restores the readable part, or delete it")
    } catch {
      return .warning(
        check,
        "\(folder.logPath) is damaged: the gateway keeps it under another name and begins a new one; `pushcli doctor --repair` restores the readable part"
      )
    }
  }

  private func space() -> Finding {
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder.path)
    guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.intValue else {
      return .warning("disk", "the free space is unknown")
    }
    let words = "\(free >> 20) MiB are free"
    return free < DiagnosticCheck.scarceSpace
      ? .warning("disk", words + ": free some, or pushes will be refused with 503")
      : .ok("disk", words)
  }

  /// Checks that the gateway runs, answers at the addresses where it listens, and is healthy.
  private func gateway() async -> Finding {
    let check = "gateway"
    let addresses = folder.listening
    let context = GatewayContext(name: GatewayContext.localName, folder: folder, address: nil)
    guard !addresses.isEmpty else {
      return .warning(
        check, "none runs on this folder: `pushcli serve` starts one" + folder.serviceHint)
    }
    // A gateway that listens on every address is reached at the loopback address.
    for address in addresses.map(\.reachable) {
      do {
        let client = try await Client.connect(
          to: .tls(host: address.host, port: address.port, trustPath: context.trustPath(at: address)))
        defer { client.close() }
        let answer = try await client.request("GET", "/v1/health")
        let health = try decodeJSON(Health.self, from: answer.body)
        if let problem = health.problems.first {
          return .failed(check, "\(problem.part): \(problem.problem)")
        }
        if let warning = health.warnings?.first {
          return .warning(check, "\(warning.part): \(warning.problem)")
        }
      } catch {
        return .failed(check, "\(error)")
      }
    }
    return .ok(check, "answers at \(addresses.map(\.description).joined(separator: ", "))")
  }

  /// Checks that each app belongs to one team; nil if no gateway answers.
  private func apps() async -> Finding? {
    guard let client = try? await Client.connect(to: .admin(path: folder.adminSocket)) else { return nil }
    defer { client.close() }
    guard let apps = try? decodeJSON([AppRow].self, from: try await client.request("GET", AdminPath.apps()).body),
      let teams = try? decodeJSON([TeamRecord].self, from: try await client.request("GET", AdminPath.teams()).body)
    else { return nil }
    let open = apps.filter { $0.team == nil }.map(\.topic)
    guard teams.count > 1, !open.isEmpty else {
      return .ok("apps", "\(apps.count), each reached by the keys of its team")
    }
    return .warning(
      "apps", "the keys of every team reach \(open.joined(separator: ", ")): `pushcli apps set TOPIC --team TEAMID`")
  }

  /// Checks the remaining validity of the certificate that clients see: that of the setting `certificate`, or the
  /// gateway's own.
  private func serverCertificate() -> Finding {
    let (check, shown) = ("server certificate", folder.shownCertificatePath)
    return FileManager.default.fileExists(atPath: shown)
      ? certificate(
        check, shown, "replace the file that the setting certificate names", "the certificate of the settings")
      : certificate(check, folder.certificatePath, "a gateway that runs renews its own; replace any other")
  }

  /// - Parameters:
  ///   - advice: the action to take before the certificate ends.
  ///   - name: the name of the certificate; nil to name it by its path.
  private func certificate(_ check: String, _ path: String, _ advice: String, _ name: String? = nil) -> Finding {
    guard FileManager.default.fileExists(atPath: path) else {
      return .warning(check, "\(path) is not there: a start makes it")
    }
    guard let end = CertificateExpiry.seconds(ofFile: path) else {
      return .failed(check, "\(path) holds no certificate: delete it to have a new one made")
    }
    let days = (end - Int64(now.timeIntervalSince1970)) / DiagnosticCheck.day
    guard days >= 0 else {
      return .failed(
        check,
        name.map { "\($0) has expired: \(advice)" }
          ?? "\(path) has expired: replace it, or delete it and its key and start again")
    }
    return .certificate(check, name ?? path, days: days, advice)
  }

  // MARK: This machine

  private func library() -> Finding {
    let refusal = HTTP2Library.refusal
    return Finding(
      check: "HTTP/2 library", state: refusal == nil ? .ok : .failed,
      words: refusal ?? "libnghttp2 \(HTTP2Library.version), with all required limits")
  }

  private func versions() -> Finding {
    let warnings = SystemLibrary.warnings
    let versions = SystemLibrary.allCases.map { "\($0.rawValue) \($0.version)" }
    return Finding(
      check: "libraries", state: warnings.isEmpty ? .ok : .warning,
      words: (warnings.isEmpty ? versions : warnings).joined(separator: "; "))
  }

  /// Checks the clock. A provider token is accepted for one hour at most, so that a wrong clock causes the refusal of
  /// all.
  private func clock() -> Finding {
    let words = Timestamp.text(now, .seconds)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let newest = names.compactMap { name in
      (try? FileManager.default.attributesOfItem(atPath: folder.path + "/" + name))?[.modificationDate] as? Date
    }.max()
    guard let newest, newest > now.addingTimeInterval(300) else {
      return .ok("clock", words)
    }
    return .warning(
      "clock",
      "\(words), but files were written at \(Timestamp.text(newest, .seconds)): set it, provider tokens need it within minutes"
    )
  }

  private func descriptors() -> Finding {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let words = "\(limit.rlim_max) open files allowed: one for each device that is connected"
    return limit.rlim_max < 4096
      ? .warning("open files", words + "; raise it with `ulimit -Hn` or LimitNOFILE")
      : .ok("open files", words)
  }

  private func terminal() -> Finding {
    let check = "terminal"
    guard isatty(STDOUT_FILENO) == 1 else {
      return .ok(check, "none: `subscribe` uses line mode")
    }
    let environment = ProcessInfo.processInfo.environment
    let form = TerminalCapabilities.detect(environment)
    switch form.drawing {
    case .plain:
      return .warning(
        check, "`subscribe` uses line mode: \(form.reason); full screen needs a terminal that sets TERM")
    case .ascii:
      return .warning(check, "the phone is drawn in ASCII, with initials for icons: \(form.reason)")
    case .full:
      let reported = Appearance.reported(environment).map { "\($0.rawValue), from COLORFGBG" } ?? "dark"
      return .ok(
        check,
        "the phone is drawn in full: \(form.reason); \(reported), unless the terminal answers (OSC 11) that it is otherwise"
      )
    }
  }
}
