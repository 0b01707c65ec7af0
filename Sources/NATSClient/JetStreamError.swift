/// The reason why a request to JetStream failed.
package enum JetStreamError: Error, Sendable, Equatable, CustomStringConvertible {
  /// JetStream was not reached, or did not answer.
  case link(NATSError)
  /// JetStream refused the request: the status, the number of the error, and its description.
  case refused(status: Int, code: ErrorCode, description: String)
  /// JetStream sent an answer that this client can't read.
  case malformed(String)

  /// The error numbers of JetStream that this client uses.
  package struct ErrorCode: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Too few brokers are connected for this number of replicas: others may be starting, or may not exist.
    package static let noSuitablePeers = ErrorCode(rawValue: 10005)
    package static let noMessage = ErrorCode(rawValue: 10037)
    package static let notEnabled = ErrorCode(rawValue: 10039)
    package static let sequenceNotFound = ErrorCode(rawValue: 10043)
    package static let deletionFailed = ErrorCode(rawValue: 10057)
    package static let streamNameInUse = ErrorCode(rawValue: 10058)
    package static let streamNotFound = ErrorCode(rawValue: 10059)
    package static let wrongLastSequence = ErrorCode(rawValue: 10071)
    package static let insufficientResources = ErrorCode(rawValue: 10023)
    /// A message with the same id is being stored.
    package static let duplicateInProcess = ErrorCode(rawValue: 10158)
    package static let wrongLastSequenceConstant = ErrorCode(rawValue: 10164)
  }

  package var code: ErrorCode? {
    guard case .refused(_, let code, _) = self else { return nil }
    return code
  }

  /// True if a compare-and-set found another sequence number than expected.
  package var isConflict: Bool { code == .wrongLastSequence || code == .wrongLastSequenceConstant }

  /// True if the message or stream to read or delete does not exist.
  package var isNotFound: Bool {
    guard case .refused(let status, let code, _) = self else { return false }
    return status == 404 || [.noMessage, .sequenceNotFound, .deletionFailed, .streamNotFound].contains(code)
  }

  package var description: String {
    switch self {
    case .link(let error): error.description
    case .refused(_, let code, let description): "JetStream refuses: \(description) (\(code.rawValue))"
    case .malformed(let what): "JetStream's answer can't be read: \(what)"
    }
  }
}
