import PushCore

extension LoadWorker {
  /// Records the error of a lost connection, and ends the test if a repetition can't succeed: the peer is not trusted,
  /// or answers in another protocol.
  func note(_ error: any Error, at addressIndex: Int) {
    tally.lastLoss = "\(error)"
    switch (error as? TLSError)?.kind {
    case .untrusted, .notTLS: fail(target.reason(of: error, at: addressIndex))
    case .file, .other, nil: break
    }
  }
}
