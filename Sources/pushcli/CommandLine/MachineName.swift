import Foundation

/// The host name of this machine.
enum MachineName {
  /// The host name with its domain, if it has one.
  static var full: String { ProcessInfo.processInfo.hostName }
  /// The part of the host name before the first dot.
  static var short: String { String(full.prefix { $0 != "." }) }
}
