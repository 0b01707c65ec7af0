import HTTP2Transport
import PushPolicy
import PushStorage

/// The system libraries that this process uses, and their tested versions. Another version may behave differently in
/// relevant ways, so it should be checked first when a problem occurs.
package enum SystemLibrary: String, CaseIterable {
  case nghttp2 = "libnghttp2"
  case openSSL = "OpenSSL"
  case sqlite = "SQLite"
  case simdjson

  /// The tested versions, and the name and number of Debian's package.
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

  /// Debian's package of the last tested version.
  package var package: String { row.package }

  /// The version in use; for simdjson, the version at build time, because the library reports no other.
  package var version: String {
    switch self {
    case .nghttp2: HTTP2Library.version
    case .openSSL: TLSLibrary.version
    case .sqlite: SQLiteLibrary.version
    case .simdjson: JSONParser.libraryVersion
    }
  }

  /// Returns a warning about a version; nil if a version with the same major and minor number was tested, since
  /// distributions make only repairs within it.
  package func warning(about version: String) -> String? {
    let known = Set(tested.map(SystemLibrary.release))
    guard !known.contains(SystemLibrary.release(version)) else { return nil }
    return
      "\(rawValue) \(version) is untested (tested: \(tested.joined(separator: ", ")))"
  }

  /// The warnings about all libraries whose version was not tested.
  package static var warnings: [String] { allCases.compactMap { $0.warning(about: $0.version) } }

  private static func release(_ version: String) -> String {
    version.split(separator: ".").prefix(2).joined(separator: ".")
  }
}
