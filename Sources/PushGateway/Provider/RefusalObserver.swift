import HTTP2Transport

/// The receiver of the refusals of one event loop; only a test gateway has one.
///
/// It is called on the loop, before the response is sent.
protocol RefusalObserver: AnyObject {
  /// Reports a request that is answered with a rejection.
  func refused(_ exchange: Exchange, _ rejection: Rejection)
  /// Reports a request that an injected fault answers with a status and no reason.
  func answered(_ exchange: Exchange, status: Int)
}
