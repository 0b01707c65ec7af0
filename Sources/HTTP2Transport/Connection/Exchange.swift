/// One request with the means to answer it, on the loop of its connection.
package struct Exchange {
  package let connection: Connection
  package let stream: HTTP2Stream

  package var request: Message { stream.message }

  /// Sends a response: a head, and at most one DATA frame; none for HEAD (RFC 9110 §9.3.2).
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

  /// Begins a response whose body follows with ``write(_:ending:)``.
  package func begin(_ fields: HeaderFields) {
    do { try connection.session.beginResponse(fields, on: stream) } catch { connection.close(error) }
    connection.setNeedsFlush()
  }

  /// Appends bytes to the body.
  package func write(_ bytes: consuming [UInt8], ending: Bool = false) {
    connection.session.write(bytes, ending: ending, on: stream)
    connection.setNeedsFlush()
  }

  /// Sends a response of the control plane.
  package func respond(_ response: Response) {
    var fields = HeaderFields(status: response.status)
    if !response.body.isEmpty { fields.append(.contentType, response.contentType) }
    for (name, value) in response.fields { fields.append(sent: name, value) }
    respond(fields, body: response.body)
  }

  /// The reference to keep while the response is prepared outside of the loop.
  package var reference: StreamReference { StreamReference(connection: connection, id: stream.id) }
}

/// A reference to a stream that may be over when its response is ready. Stays on its loop.
package struct StreamReference {
  package let connection: Connection
  package let id: Int32

  package init(connection: Connection, id: Int32) {
    self.connection = connection
    self.id = id
  }

  /// The exchange; nil if the stream is over.
  package var exchange: Exchange? {
    connection.session.stream(id).map { Exchange(connection: connection, stream: $0) }
  }
}

/// The handler of requests; one for each loop.
package protocol Handler: AnyObject {
  /// Called when the head is complete: sets the limit for the body, or takes over the stream as its consumer.
  func receivedHead(of exchange: Exchange)
  /// Called when the whole request is complete, unless a consumer has taken over the stream.
  func receivedRequest(_ exchange: Exchange)
  /// Returns the reason for which a peer is refused after its handshake, or is no longer served; nil if it is served.
  func cause(toRefuse connection: Connection) -> CloseReason?
  /// Called when the peer is served from now on.
  func began(_ connection: Connection)
  /// Answers an incomplete request that will not be completed.
  func abandon(_ exchange: Exchange, for cause: CloseReason)
  func debugData(of cause: CloseReason) -> [UInt8]
  /// Returns true if a request with too many header fields is answered once its head is complete; if false, its
  /// stream is reset.
  func answersExcessFields(of exchange: Exchange) -> Bool
  /// Answers or resets a request that was not complete in time.
  func timeOut(_ exchange: Exchange)
  /// Called when the peer exceeded a limit.
  func exceeded(_ limit: TransportLimit, on connection: Connection)
}
