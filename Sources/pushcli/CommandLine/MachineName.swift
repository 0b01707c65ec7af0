import Foundation

/// What this machine calls itself.
enum MachineName {
  /// With its domain, where it has one.
  static var full: String { ProcessInfo.processInfo.hostName }
  /// Its first part.
  static var short: String { String(full.prefix { $0 != "." }) }
}
