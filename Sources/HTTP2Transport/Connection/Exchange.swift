/// One request and the way to answer it, on the loop of its connection.
struct Exchange {
  let connection: Connection
  let stream: HTTP2Stream

  /// What the peer sent.
  var request: Message { stream.message }

  /// Answers: a head, and at most one DATA frame.
  func respond(_ fields: HeaderFields, body: some Collection<UInt8>) {
    guard !stream.hasSubmittedHead else { return }
    do { try connection.session.respond(fields, body: body, on: stream) } catch { connection.close(error) }
    connection.setNeedsFlush()
  }

  /// Begins an answer whose body follows with ``write(_:ending:)``.
  func begin(_ fields: HeaderFields) {
    do { try connection.session.beginResponse(fields, on: stream) } catch { connection.close(error) }
    connection.setNeedsFlush()
  }

  /// Adds to the body.
  func write(_ bytes: consuming [UInt8], ending: Bool = false) {
    connection.session.write(bytes, ending: ending, on: stream)
    connection.setNeedsFlush()
  }

  /// Answers with JSON of the control plane.
  func respond(_ response: Response) {
    var fields = HeaderFields(status: response.status)
    if !response.body.isEmpty { fields.append(.contentType, response.contentType) }
    respond(fields, body: response.body)
  }

  /// What is kept while the answer is being prepared elsewhere.
  var reference: StreamReference { StreamReference(connection: connection, id: stream.id) }
}

/// A stream that may be over by the time its answer is there. Stays on its loop.
struct StreamReference {
  let connection: Connection
  let id: Int32

  /// The exchange, or nil when the stream is over.
  var exchange: Exchange? {
    connection.session.stream(id).map { Exchange(connection: connection, stream: $0) }
  }
}

/// What serves requests; one for each loop.
protocol Handler: AnyObject {
  /// The head is there: says how much of the body is kept, or takes the stream over.
  func receivedHead(of exchange: Exchange)
  /// The whole request is there, and nobody has taken the stream over.
  func receivedRequest(_ exchange: Exchange)
  /// Why a peer whose handshake is done is not served, or no longer; nil: it is.
  func cause(toRefuse connection: Connection) -> ConnectionEnd?
  /// The peer is served from now on.
  func began(_ connection: Connection)
  /// Answers a request that is not complete and will not be waited for.
  func abandon(_ exchange: Exchange, for cause: ConnectionEnd)
  /// What GOAWAY says of a cause.
  func debugData(of cause: ConnectionEnd) -> [UInt8]
}
