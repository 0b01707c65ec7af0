import Foundation
import GatewayProtocol

@testable import PushGateway

extension FuzzTarget {
  /// A file `config.yaml`.
  static let configuration = FuzzTarget("configuration", maximumSize: 500) {
    let folder = try FuzzFolder()
    let path = folder.file("config.yaml")
    return { bytes in
      guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else { fatalError("no file") }
      do throws(ConfigurationError) {
        let configuration = try Configuration(state: folder.path, flags: [:], file: path, environment: [:])
        precondition(configuration.effective.count == Configuration.settings.count, "every setting has a value")
      } catch {
        precondition(!error.description.isEmpty, "an error has words")
      }
    }
  }

  /// A file with a scenario of faults.
  static let faultFile = FuzzTarget("fault-file", maximumSize: 500) {
    { bytes in
      do throws(FaultError) {
        let rules = try FaultRule.list(yaml: String(decoding: bytes, as: UTF8.self))
        let table = FaultTable()
        var faults: [Fault] = []
        for rule in rules { faults.append(try Fault(rule)) }
        try table.set(faults, now: 1_800_000_000_000)
        precondition(table.list(now: 1_800_000_000_000).count <= rules.count)
        precondition(table.brokenInvariant() == nil)
      } catch {
        precondition(!error.description.isEmpty, "an error has words")
      }
    }
  }
}
