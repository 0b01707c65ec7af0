import CNGHTTP2
import Glibc
import PushCore

/// The nghttp2 library of this process.
///
/// Two of its limits were added in security updates, some of them for old versions. Their presence is therefore
/// detected by the names of their functions, not by the version.
package enum HTTP2Library {
  /// The library's version, for example `1.52.0`.
  package static var version: String {
    guard let info = unsafe nghttp2_version(0), let text = unsafe info.pointee.version_str else { return "unknown" }
    return unsafe String(cString: text)
  }

  /// The limits on peers that the library lacks; empty if it has all.
  package static var missingLimits: [String] { missingLimits { unsafe dlsym(nil, $0) != nil } }

  /// - Parameter isThere: returns true if the library has a function with this name.
  static func missingLimits(_ isThere: (String) -> Bool) -> [String] {
    [resetLimit, continuationLimit].filter { !isThere($0) }
  }

  /// The reason for which a gateway does not start with this library, with advice; nil if it starts.
  package static var refusal: String? { refusal(missing: missingLimits) }

  static func refusal(missing: [String]) -> String? {
    guard !missing.isEmpty else { return nil }
    return
      "libnghttp2 \(version) lacks \(missing.joined(separator: " and ")), which limit the cost of a connection "
      + "(CVE-2023-44487, CVE-2024-28182): install the system's security updates, or version 1.61 or newer"
  }

  private static let resetLimit = "nghttp2_option_set_stream_reset_rate_limit"
  private static let continuationLimit = "nghttp2_option_set_max_continuations"

  /// Sets the limits that a library may lack, so that the gateway's values are used instead of its defaults.
  static func limit(_ options: OpaquePointer?) {
    typealias SetRate = @convention(c) (OpaquePointer?, UInt64, UInt64) -> Void
    typealias SetCount = @convention(c) (OpaquePointer?, Int) -> Void
    if let function = unsafe dlsym(nil, resetLimit) {
      unsafe unsafeBitCast(function, to: SetRate.self)(
        options, UInt64(Limits.maximumPeerResets), UInt64(Limits.peerResetsPerSecond))
    }
    if let function = unsafe dlsym(nil, continuationLimit) {
      unsafe unsafeBitCast(function, to: SetCount.self)(options, Limits.maximumContinuations)
    }
  }
}
