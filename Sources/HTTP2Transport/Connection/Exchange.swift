/// One request and the way to answer it, on the loop of its connection.
package struct Exchange {
  package let connection: Connection
  package let stream: HTTP2Stream

  /// What the peer sent.
  package var request: Message { stream.message }

  /// Answers: a head, and at most one DATA frame; to HEAD none (RFC 9110 §9.3.2).
  package func respond(_ fields: HeaderFields, body: some Collection<UInt8>) {
    guard !stream.hasSubmittedHead else { return }
    do {
      if !body.isEmpty, request.has(.method, "HEAD") {
        try connection.session.respond(fields, body: EmptyCollection(), on: stream)
      } else {
        try connection.session.respond(fields, body: body, on: stream)
      }
    } catch {
      connection.close(error)
    }
    connection.setNeedsFlush()
  }

  /// Begins an answer whose body follows with ``write(_:ending:)``.
  package func begin(_ fields: HeaderFields) {
    do { try connection.session.beginResponse(fields, on: stream) } catch { connection.close(error) }
    connection.setNeedsFlush()
  }

  /// Adds to the body.
  package func write(_ bytes: consuming [UInt8], ending: Bool = false) {
    connection.session.write(bytes, ending: ending, on: stream)
    connection.setNeedsFlush()
  }

  /// Answers with JSON of the control plane.
  package func respond(_ response: Response) {
    var fields = HeaderFields(status: response.status)
    if !response.body.isEmpty { fields.append(.contentType, response.contentType) }
    respond(fields, body: response.body)
  }

  /// What is kept while the answer is being prepared elsewhere.
  package var reference: StreamReference { StreamReference(connection: connection, id: stream.id) }
}

/// A stream that may be over by the time its answer is there. Stays on its loop.
package struct StreamReference {
  package let connection: Connection
  package let id: Int32

  package init(connection: Connection, id: Int32) {
    self.connection = connection
    self.id = id
  }

  /// The exchange, or nil when the stream is over.
  package var exchange: Exchange? {
    connection.session.stream(id).map { Exchange(connection: connection, stream: $0) }
  }
}

/// What serves requests; one for each loop.
package protocol Handler: AnyObject {
  /// The head is there: says how much of the body is kept, or takes the stream over.
  func receivedHead(of exchange: Exchange)
  /// The whole request is there, and nobody has taken the stream over.
  func receivedRequest(_ exchange: Exchange)
  /// Why a peer whose handshake is done is not served, or no longer; nil: it is.
  func cause(toRefuse connection: Connection) -> CloseReason?
  /// The peer is served from now on.
  func began(_ connection: Connection)
  /// Answers a request that is not complete and will not be waited for.
  func abandon(_ exchange: Exchange, for cause: CloseReason)
  /// What GOAWAY says of a cause.
  func debugData(of cause: CloseReason) -> [UInt8]
  /// Whether a request with more fields than are taken is answered when its head is there; else its stream is reset.
  func answersExcessFields(of exchange: Exchange) -> Bool
  /// Answers or resets a request that took too long to be complete.
  func timeOut(_ exchange: Exchange)
  /// The peer met a limit.
  func exceeded(_ limit: TransportLimit, on connection: Connection)
}
