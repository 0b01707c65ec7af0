/// The limits of connections and of the messages on them.
extension Limits {
  // MARK: HTTP/2

  /// The maximum number of open streams of a peer on one connection, as of Apple's service (reference §5.2).
  package static let maximumConcurrentStreams = 1000
  /// The value of `SETTINGS_MAX_HEADER_LIST_SIZE`, as of Apple's service.
  package static let announcedHeaderListSize = 8000
  /// The maximum size of the header list of one message, counted as RFC 9113 §6.5.2 requires: names, values and 32
  /// bytes for each field, also for fields that the gateway ignores. Twice the announced size, for clients that
  /// ignore the setting.
  package static let maximumHeaderListSize = 16_000
  /// The maximum size of a header list that is read to its end, for a response of 431. A larger one ends its
  /// connection.
  package static let maximumDroppedHeaderListSize = 4 * maximumHeaderListSize
  /// The receive window of a connection in bytes, so large that no sender waits for credit.
  package static let connectionWindowSize = 16 << 20
  /// The receive window of a stream in bytes, the default of the protocol (RFC 9113 §6.9.2).
  package static let streamWindowSize = 65_535
  /// The plaintext bytes of one `SSL_write`: one TLS record.
  package static let recordSize = 16_384
  /// The default interval at which a device and its gateway send PINGs to each other: a dead connection is detected
  /// within two intervals (``Liveness``).
  package static let pingInterval = Duration.seconds(30)

  /// The maximum size in bytes of a client's certificate chain, and the maximum number of CAs between its certificate
  /// and a trusted one: each CA adds time to the handshake.
  package static let clientChainSize = 16 << 10
  package static let clientChainDepth: Int32 = 3
  /// The maximum number of bits of the public exponent in a client's RSA key, for which software uses 17. One as long as
  /// the key makes a signature 200 times as expensive.
  package static let clientExponentBits: Int32 = 64

  /// The time until the TLS handshake of a connection must be complete.
  package static let handshakeTime = Duration.seconds(15)
  /// The time for TLS handshakes in one event-loop iteration; a single handshake takes up to milliseconds.
  package static let handshakeShare = Duration.milliseconds(1)

  /// The number of connections that an event loop tears down before it reads from its sockets: less than a
  /// millisecond of work.
  package static let closingSlice = 16

  // MARK: Resources of a connection

  /// The interval in seconds at which the times of a connection are checked, and the precision of these times.
  package static let tick = 5
  /// The time in seconds from the first byte of a request's head to the last byte of its body: slow requests occupy
  /// memory.
  package static let requestTime = 30
  /// The time in seconds that a connection without a request is kept after the last byte from its peer: some
  /// libraries connect at their start, and push hours later.
  ///
  /// If descriptors run short, or unauthenticated clients use up their share, the oldest such connections end
  /// earlier.
  package static let firstRequestTime = 4 * 3600
  /// The time in seconds until the PROXY header of a connection must be complete; load balancers send it first.
  package static let proxyHeaderTime = 5
  /// The time in seconds until a peer must acknowledge SETTINGS (RFC 9113 §6.5.3): before that no setting binds the
  /// peer.
  package static let settingsTime = 10
  /// The time in seconds until a connection ends whose reading is paused and whose queued output makes no progress.
  package static let unreadTime = 30
  /// The maximum bytes of incomplete requests on a connection without a credential: the bodies of 200 pushes.
  package static let maximumUnauthenticatedSize = 1 << 20
  /// The maximum bytes of incomplete requests on a connection with a credential: a body on each stream.
  package static let maximumIncompleteSize = 4 << 20
  /// The memory of an open stream in bytes, without the bytes of its messages.
  package static let streamSize = 1 << 10
  /// The bytes of all open streams of one event loop at which ``keptShare`` applies to its connections:
  /// incomplete requests, unread responses and ``streamSize`` for each stream. Ten times what senders at full rate need.
  ///
  /// A client may open many connections with one credential, so a limit for each of them is not enough.
  package static let maximumKeptSize = 128 << 20
  /// The bytes of the open streams of one connection above which streams are refused while the event loop keeps more
  /// than ``maximumKeptSize``: a dozen pushes; without a credential, one request with large header fields.
  package static let keptShare = 64 << 10
  package static let unauthenticatedKeptShare = 16 << 10
  /// The bytes that a connection may send in one event-loop iteration without waiting for other connections.
  ///
  /// A connection that sends more continues to be read after the others have had their turn, in pieces of this size,
  /// each half a millisecond of work. A hundred pushes in flight are more than this size, ten are less.
  package static let iterationShare = 8_192
  /// The number of pushes being stored at which an event loop stops reading from connections that exceeded their share,
  /// while others send little. Pushes of the others then wait for a commit of at most this many pushes.
  package static let turnBacklog = 64
  /// The same while no other connection sends: it is larger, because small commits cost more.
  package static let turnBacklogAlone = 2_048
  /// The maximum number of lines from a gateway that are queued for a reader that takes them one by one.
  package static let maximumWaitingLines = 10_000
  /// The number of channels for which a device stores its position: more than a user subscribes to.
  package static let maximumRememberedChannels = 10_000
  /// The number of queued outgoing frames at which reading pauses: a response on each stream, and some for the
  /// connection.
  package static let maximumWaitingFrames = 1200
  /// The number of streams that the gateway resets because of errors of the peer: at once, and for each second.
  ///
  /// A reset request costs its work but no longer counts as an open stream (CVE-2025-8671).
  package static let maximumResets = 200
  package static let resetsPerSecond = 20
  /// The maximum number of streams refused because too many are open: as many as a client may open before it reads
  /// SETTINGS.
  package static let maximumRefusedStreams = 1000
  /// The number of streams that the peer resets: at once, and for each second (CVE-2023-44487).
  package static let maximumPeerResets = 1000
  package static let peerResetsPerSecond = 33
  /// The total number of streams that a peer without a credential resets: each is a request that was begun in vain.
  package static let maximumUnauthenticatedResets = 100
  /// The maximum number of CONTINUATION frames of one header block (CVE-2024-28182).
  package static let maximumContinuations = 8
  /// The maximum number of queued acknowledgments of PING and SETTINGS.
  package static let maximumWaitingAcknowledgements = 1000
  /// The maximum number of entries of one SETTINGS frame.
  package static let maximumSettings = 32
  /// The maximum number of running requests of the control plane, of one connection and of all. Requests whose
  /// streams are closed already count, too.
  package static let maximumControlRequests = 64
  package static let maximumRunningRequests = 1024
  /// The bytes of unread responses on a connection at which its next request of the control plane is refused. No
  /// other limit stops a client that sends many requests and reads no response.
  package static let maximumWaitingAnswers = 4 << 20
  /// The interval in seconds in which each limit is logged at most once.
  package static let limitLogInterval: Int64 = 60

  /// The maximum number of lines of one event in ``limitLogInterval``; further events are only counted.
  package static let maximumRepeatedLines = 10
  /// The maximum number of log lines queued for the reader of standard error; more are dropped and counted.
  package static let maximumWaitingLogLines = 2_000

  /// The maximum number of connections without a credential from one address or one IPv6 network (/64). A client with
  /// more to ask sends a credential with its first request.
  ///
  /// Loopback has no such limit, because all devices of a machine may reconnect at once.
  package static let maximumAddressConnections = 32
  /// The fraction of all descriptors for connections without a credential, except from loopback: one in this number.
  package static let unauthenticatedShare = 4
  /// The number of idle connections without a credential that end each time that descriptors run short.
  package static let evictionSlice = 16
  /// The minimum age in seconds of a connection that ends for this reason: time for a handshake and a request.
  package static let evictionAge = 2

  /// The number of free descriptors at which accepting pauses: for the database, the admin socket, the system's
  /// libraries.
  package static let reservedDescriptors = 64

  // MARK: Pushes to the upstream

  /// The time in seconds until a push for the upstream is answered 503: longer than a slow answer of Apple's service,
  /// and shorter than the timeouts of most libraries.
  package static let forwardTime: Int64 = 20
  /// The maximum number of pushes of an event loop that have no answer of the upstream yet, and their bytes: four
  /// connections with the maximum number of streams, and more than their payloads usually take.
  package static let maximumForwards = 4_096
  package static let maximumForwardSize = 16 << 20
  /// The fraction of both for senders with unknown keys: one in this number.
  package static let unverifiedForwardShare = 4
  /// The maximum number of connections of an event loop to the upstream, each for one provider token; and the maximum number
  /// of these for tokens with unknown keys.
  package static let maximumUpstreamConnections = 128
  package static let maximumUnverifiedConnections = 16
  /// The rate of provider tokens of an event loop that get a connection: a sender keeps a token for 20 minutes, and
  /// each connection costs a handshake.
  package static let upstreamTokens = TokenBucket.Rate(burst: 128, perSecond: 2)
  /// The time in seconds until a new connection to the upstream can carry requests.
  package static let upstreamConnectTime: Int64 = 10
  /// The time in seconds after which an unused connection to the upstream ends.
  package static let upstreamIdleTime: Int64 = 600
  /// The bounds of the pauses between attempts to reach the upstream: the first, and all later ones.
  package static let firstUpstreamPause = Duration.milliseconds(500)
  package static let longestUpstreamPause = Duration.seconds(30)
  /// The maximum number of attempts to send a push that the upstream refuses to process, and the number of successive
  /// connections without an answer after which the upstream counts as unreachable.
  package static let forwardAttempts = 3
  /// The maximum size in bytes of an answer's body of the upstream; Apple's service and this gateway send less.
  package static let maximumForwardedAnswer = 4_096
  /// The rate of pushes for the upstream with unknown keys that the upstream has not accepted yet: of one address; and of
  /// all addresses together, which is also the rate of this machine.
  package static let unverifiedForwards = TokenBucket.Rate(burst: 200, perSecond: 20)
  package static let allUnverifiedForwards = TokenBucket.Rate(burst: 5_000, perSecond: 500)
  /// The maximum number of provider tokens with unknown keys that are remembered because the upstream has accepted
  /// them, at most for their validity of an hour.
  package static let maximumVouchedTokens = 1_000

  // MARK: HTTP/1.1, for monitors and senders of messages

  /// The maximum number of connections with TLS, and of those without: for some monitors and load balancers, each with one or two,
  /// and for senders of messages.
  package static let maximumHTTP1Connections = 256
  /// The rate of connections with TLS that one other address may begin: a sender with a connection for each message has fewer. A
  /// handshake costs a millisecond with the key of most public certificates, so that one address uses a tenth of a core.
  package static let http1Handshakes = TokenBucket.Rate(burst: 500, perSecond: 100)
  /// The maximum number of further connections that are being refused with an answer; others are closed at once.
  package static let maximumHTTP1Refusals = 32
  /// The maximum number of streams of pages in browsers: half of the connections, which can't be idle. The other half is
  /// for monitors and messages.
  package static let maximumHTTP1Streams = 128
  /// The time until a connection must have sent its first request, with TLS after the handshake.
  package static let http1RequestTime = Duration.seconds(10)
  /// The time that a connection is kept for its next request: most monitors send one a minute, or more often.
  package static let http1IdleTime = Duration.seconds(75)
  /// The time that an ending connection has to read its response.
  package static let http1LingerTime = Duration.seconds(2)
  /// The maximum size in bytes of a request's head, the maximum size of one field, and the maximum number of fields.
  package static let maximumHTTP1HeadSize = 16 << 10
  package static let maximumHTTP1FieldSize = 8 << 10
  package static let maximumHTTP1Fields = 64
  /// The maximum response time of an event loop; after that the gateway counts as stuck.
  package static let loopAnswerTime = Duration.seconds(5)

  // MARK: Limits of clients for gateways

  /// The maximum size in bytes of a line of a gateway, which a client can't trust. The first line names all apps of
  /// the device and contains the user's preferences.
  package static let maximumGatewayLineSize = 4 << 20
  /// The maximum size in bytes of a gateway's response; `pushcli log` may request a million rows.
  package static let maximumAnswerSize = 512 << 20
}
