import CNGHTTP2
import Glibc
import PushCore

/// The nghttp2 library that this process runs with.
///
/// Two of its limits came with security updates, some of them for old versions: whether they are there is seen by their
/// names, not by the version.
package enum HTTP2Library {
  /// The library's version, as `1.52.0`.
  package static var version: String {
    guard let info = unsafe nghttp2_version(0), let text = unsafe info.pointee.version_str else { return "unknown" }
    return unsafe String(cString: text)
  }

  /// What a library lacks that bounds what a peer may do; empty when it has all.
  package static var missingLimits: [String] { missingLimits { unsafe dlsym(nil, $0) != nil } }

  /// - Parameter isThere: whether the library has a function of this name.
  static func missingLimits(_ isThere: (String) -> Bool) -> [String] {
    [resetLimit, continuationLimit].filter { !isThere($0) }
  }

  /// Why a gateway does not start with this library, and what to do; nil when it may.
  package static var refusal: String? { refusal(missing: missingLimits) }

  static func refusal(missing: [String]) -> String? {
    guard !missing.isEmpty else { return nil }
    return
      "libnghttp2 \(version) lacks \(missing.joined(separator: " and ")), which limit the cost of a connection "
      + "(CVE-2023-44487, CVE-2024-28182): install the system's security updates, or version 1.61 or newer"
  }

  private static let resetLimit = "nghttp2_option_set_stream_reset_rate_limit"
  private static let continuationLimit = "nghttp2_option_set_max_continuations"

  /// Sets the limits that a library may lack, so that they are ours and not its defaults.
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
