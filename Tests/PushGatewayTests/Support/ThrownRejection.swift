@testable import PushGateway

/// Returns the rejection that a check throws, or nil.
func rejection(_ check: () throws(Rejection) -> Void) -> Rejection? {
  do {
    try check()
    return nil
  } catch {
    return error
  }
}
