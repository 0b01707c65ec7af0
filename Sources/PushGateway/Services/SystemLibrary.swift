import HTTP2Transport
import PushPolicy
import PushStorage

/// The libraries of the system that this process runs with, and the versions of them that were tested: another may behave
/// otherwise where it matters, and is worth a look before a gateway is blamed.
package enum SystemLibrary: String, CaseIterable {
  case nghttp2 = "libnghttp2"
  case openSSL = "OpenSSL"
  case sqlite = "SQLite"
  case simdjson

  /// The table: what was tested, as Debian's packages are named and numbered.
  private var row: (tested: [String], package: String) {
    switch self {
    case .nghttp2: (["1.52.0"], "libnghttp2-14 1.52.0-1+deb12u3")
    case .openSSL: (["3.0.19"], "libssl3 3.0.19-1~deb12u2")
    case .sqlite: (["3.40.1"], "libsqlite3-0 3.40.1-2+deb12u2")
    case .simdjson: (["3.0.1"], "libsimdjson14 3.0.1-1")
    }
  }

  /// The versions that the tests ran with.
  package var tested: [String] { row.tested }

  /// Debian's package of the last of them.
  package var package: String { row.package }

  /// The version that is there; simdjson tells only which one this was built with.
  package var version: String {
    switch self {
    case .nghttp2: HTTP2Library.version
    case .openSSL: TLSLibrary.version
    case .sqlite: SQLiteLibrary.version
    case .simdjson: JSONParser.libraryVersion
    }
  }

  /// What to say of a version; nil when one of the same major and minor number was tested, since a distribution mends
  /// within it.
  package func warning(about version: String) -> String? {
    let known = Set(tested.map(SystemLibrary.release))
    guard !known.contains(SystemLibrary.release(version)) else { return nil }
    return
      "\(rawValue) \(version) is untested (tested: \(tested.joined(separator: ", ")))"
  }

  /// Of every library that was not tested in its version.
  package static var warnings: [String] { allCases.compactMap { $0.warning(about: $0.version) } }

  private static func release(_ version: String) -> String {
    version.split(separator: ".").prefix(2).joined(separator: ".")
  }
}
