import PushCore
import Synchronization

/// The provider tokens with unknown keys that the upstream has accepted. The rate limit of unverified senders does not
/// apply to them. At most ``Limits/maximumVouchedTokens`` are kept, each for ``Limits/maximumTokenAge`` seconds.
final class VouchedTokens: Sendable {
  /// The end of each, in seconds since 1970, by the SHA-256 of the field `authorization`.
  private let ends = Mutex<[[UInt8]: Int64]>([:])

  /// Returns true if the upstream has accepted a token within its lifetime.
  ///
  /// - Parameter now: seconds since 1970.
  func contains(_ authorization: [UInt8], at now: Int64) -> Bool {
    let digest = Digest.sha256(authorization)
    return ends.withLock { ends in ends[digest].map { $0 > now } ?? false }
  }

  /// Adds a token that the upstream has accepted.
  ///
  /// - Parameter now: seconds since 1970.
  func insert(_ authorization: [UInt8], at now: Int64) {
    let digest = Digest.sha256(authorization)
    ends.withLock { ends in
      if ends.count >= Limits.maximumVouchedTokens {
        ends = ends.filter { $0.value > now }
        // The senders count as unverified until the upstream accepts their next push.
        if ends.count >= Limits.maximumVouchedTokens { ends = [:] }
      }
      ends[digest] = now + Int64(Limits.maximumTokenAge)
    }
  }

  /// Removes a token that the upstream has refused.
  func remove(_ authorization: [UInt8]) {
    let digest = Digest.sha256(authorization)
    ends.withLock { ends in
      if !ends.isEmpty { ends[digest] = nil }
    }
  }
}
