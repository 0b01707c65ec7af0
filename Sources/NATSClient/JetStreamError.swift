/// Why JetStream did not do what it was asked for.
package enum JetStreamError: Error, Sendable, Equatable, CustomStringConvertible {
  /// It was not reached, or did not answer.
  case link(NATSError)
  /// It refuses: the status, the number of the error, and what it says.
  case refused(status: Int, code: ErrorCode, description: String)
  /// It said something that this client does not understand.
  case malformed(String)

  /// The numbers of JetStream's errors, as far as somebody asks for them.
  package struct ErrorCode: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Too few brokers are there for so many copies: others may be starting, or may be none.
    package static let noSuitablePeers = ErrorCode(rawValue: 10005)
    package static let noMessage = ErrorCode(rawValue: 10037)
    package static let notEnabled = ErrorCode(rawValue: 10039)
    package static let sequenceNotFound = ErrorCode(rawValue: 10043)
    package static let deletionFailed = ErrorCode(rawValue: 10057)
    package static let streamNameInUse = ErrorCode(rawValue: 10058)
    package static let streamNotFound = ErrorCode(rawValue: 10059)
    package static let wrongLastMessageID = ErrorCode(rawValue: 10070)
    package static let wrongLastSequence = ErrorCode(rawValue: 10071)
    package static let accountResourcesExceeded = ErrorCode(rawValue: 10002)
    package static let insufficientResources = ErrorCode(rawValue: 10023)
    /// The same message id is being stored just now.
    package static let duplicateInProcess = ErrorCode(rawValue: 10158)
    package static let wrongLastSequenceConstant = ErrorCode(rawValue: 10164)
  }

  package var code: ErrorCode? {
    guard case .refused(_, let code, _) = self else { return nil }
    return code
  }

  /// Whether a compare-and-set found something else than it expected.
  package var isConflict: Bool { code == .wrongLastSequence || code == .wrongLastSequenceConstant }

  /// Whether what was to be read or deleted is not there.
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
