import HTTP2Transport
import NIOCore
import NIOEmbedded
import PushCore
import PushPolicy

@testable import PushGateway

extension FuzzTarget {
  /// A regular expression of the test API and a text, separated by NUL. The pattern in a group, and the pattern or itself, are
  /// found in the same texts. An optional pattern is found in every text.
  static let pattern = FuzzTarget("pattern", maximumSize: 400) {
    { bytes in
      let sides = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
      let source = String(decoding: sides[0], as: UTF8.self)
      let text = sides.count > 1 ? String(decoding: sides[1], as: UTF8.self) : ""
      guard let pattern = try? LinearPattern(source) else { return }
      let isFound = pattern.isFound(in: text)
      precondition(pattern.isFound(in: text) == isFound, "a search has one result")
      for equal in ["(\(source))", "\(source)|\(source)"] {
        guard let other = try? LinearPattern(equal) else { continue }
        precondition(other.isFound(in: text) == isFound, "two patterns of the same texts differ: \(equal)")
      }
      if let optional = try? LinearPattern("^(\(source))?") { precondition(optional.isFound(in: text)) }
    }
  }

  /// The body of a message. The first byte gives its content type. An accepted message is a payload without a fault.
  static let message = FuzzTarget("message", maximumSize: 600) {
    let parser = JSONParser()
    let types = [
      nil, "text/plain", "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b",
    ]
    return { bytes in
      guard let first = bytes.first else { return }
      let type = types[Int(first) % types.count]
      guard let message = try? SentMessage(Array(bytes.dropFirst()), contentType: type, parser: parser, now: 0) else {
        return
      }
      precondition(message.payload.count <= Limits.maximumPayloadSize)
      precondition(AttachmentReference(payload: message.payload) == message.attachment?.reference)
      guard let payload = try? parser.payload(message.payload.span) else { fatalError("a payload is JSON") }
      precondition(payload.faults.allSatisfy { $0.pointer == "/aps/badge" }, "only a badge keeps its type")
    }
  }

  /// A message in the form of ntfy or Gotify: the first byte gives the form and the content type. Then lines with the
  /// query and with fields, an empty line and the body. An accepted message is a payload without a fault.
  static let foreignMessage = FuzzTarget("foreign-message", maximumSize: 600) {
    let parser = JSONParser()
    let types = [nil, "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"]
    return { bytes in
      guard let first = bytes.first else { return }
      let text = bytes.dropFirst()
      let end = text.firstRange(of: [0x0A, 0x0A])
      let lines = text[..<(end?.lowerBound ?? text.endIndex)].split(
        separator: 0x0A, omittingEmptySubsequences: false
      ).map { String(decoding: $0, as: UTF8.self) }
      var request = ControlRequest(
        method: "POST", target: "/?\(lines.first ?? "")", body: Array(text[(end?.upperBound ?? text.endIndex)...]),
        authorization: nil, from: .remote)
      for line in lines.dropFirst() {
        let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
        if sides.count == 2 { request.fields[sides[0].lowercased()] = sides[1] }
      }
      request.fields["content-type"] = types[Int(first >> 2) % types.count]
      _ = (NtfyMessage.token(of: request), GotifyMessage.token(of: request))
      let sent: SentMessage? =
        switch first % 4 {
        case 0: (try? NtfyMessage(request, topic: "backup", parser: parser, now: 0))?.sent
        case 1: (try? NtfyMessage(request, topic: nil, parser: parser, now: 0))?.sent
        default: (try? GotifyMessage(request, parser: parser, now: 0))?.sent
        }
      guard let sent else { return }
      precondition(sent.payload.count <= Limits.maximumPayloadSize)
      guard let payload = try? parser.payload(sent.payload.span) else { fatalError("a payload is JSON") }
      precondition(payload.faults.isEmpty, "a message of another API has no fault")
    }
  }

  /// The body of a webhook. The first byte gives its service. A message is a payload without a fault.
  static let hook = FuzzTarget("hook", maximumSize: 2_000) {
    let parser = JSONParser()
    let fields = ["title": "/t", "body": "/b/0", "badge": "/n", "level": "/l", "subject": "/s", "resolved": "/r"]
    return { bytes in
      guard let first = bytes.first else { return }
      let kind = HookKind.allCases[Int(first) % HookKind.allCases.count]
      guard
        case .message(let read)? = try? WebhookFormat.read(Array(bytes.dropFirst()), Hook(kind, fields: fields)),
        let message = try? SentMessage(read.fields, now: 0)
      else { return }
      precondition(message.payload.count <= Limits.maximumPayloadSize)
      guard let payload = try? parser.payload(message.payload.span) else { fatalError("a payload is JSON") }
      precondition(payload.faults.allSatisfy { $0.pointer == "/aps/badge" }, "only a badge keeps its type")
    }
  }

  /// Bytes of a connection without TLS. The first byte gives the kind of peer and the size of the pieces for the rest.
  static let session = FuzzTarget("session", maximumSize: 500) {
    let gateways = FuzzGateways()
    return { bytes in
      guard let first = bytes.first else { return }
      gateways.connect(first) { gateway, peer in
        try peer.send(FuzzPeer.preface)
        for piece in gateway.filled(bytes.dropFirst()).pieces(of: [1 << 20, 9, 61, 1][Int(first >> 6)]) {
          try peer.send(Array(piece))
        }
      }
    }
  }

  /// Requests as text: `METHOD PATH`, a line for each field, an empty line, the body. Each ends with 0x1E, with 0x1F,
  /// which advances the clock by half a minute, or with 0x1C, which keeps the stream open. The first byte gives the
  /// sender.
  static let requests = FuzzTarget("requests", maximumSize: 600) {
    let gateways = FuzzGateways()
    return { bytes in
      guard let first = bytes.first else { return }
      gateways.connect(first) { gateway, peer in
        try peer.send(FuzzPeer.preface)
        try peer.send(requests: bytes.dropFirst(), of: gateway) { peer.wait(.seconds(30)) }
      }
    }
  }

  /// Requests as those of ``requests``, also for a group, some of them for a later time. 0x1F advances the clock by half
  /// a minute, and then no scheduled push may be late. The first byte gives the sender.
  static let scheduled = FuzzTarget("scheduled", maximumSize: 600) {
    let gateways = FuzzGateways()
    return { bytes in
      guard let first = bytes.first else { return }
      gateways.connect(first & 3) { gateway, peer in
        defer { gateway.resetClock() }
        try peer.send(FuzzPeer.preface)
        try peer.send(requests: bytes.dropFirst(), of: gateway) { try gateway.deliverScheduled() }
      }
    }
  }

  /// Bytes of a connection of HTTP/1.1, which serves health, metrics, messages and the page in a browser. The first byte
  /// gives the place of the client and the size of the pieces for the rest.
  static let http1 = FuzzTarget("http1", maximumSize: 500) {
    SerialTasks.begin
    let gateway = try FuzzGateway()
    return { bytes in
      guard let first = bytes.first else { return }
      do {
        let pieces = gateway.filled(bytes.dropFirst()).pieces(of: [1 << 20, 9, 61, 1][Int(first >> 6)])
        try gateway.serve(pieces, isLoopback: first & 1 == 0)
      } catch {
        preconditionFailure("\(error)")
      }
    }
  }

  /// Bytes of a device's stream, in pieces separated by 0x1E. After 0x1D, a piece has payloads of pushes for the
  /// device.
  static let stream = FuzzTarget("device-stream", maximumSize: 500) {
    let gateways = FuzzGateways()
    return { bytes in
      guard let first = bytes.first else { return }
      gateways.connect(first & 0xC0) { gateway, peer in
        try peer.send(FuzzPeer.preface)
        let isEvents = first & 1 == 1
        let head = isEvents ? "GET /v1/device/stream?silent=true\nlast-event-id: 3" : "POST /v1/device/stream"
        let stream = try peer.send(
          request: gateway.filled(Array("\(head)\nauthorization: bearer {secret}\n\n".utf8)), isEnding: isEvents)
        for piece in bytes.dropFirst().split(separator: 0x1E) {
          if piece.first == 0x1D {
            let request = "POST /3/device/{token}\nauthorization: bearer {jwt}\napns-topic: com.example.news\n\n"
            try peer.send(request: gateway.filled(Array(request.utf8)) + piece.dropFirst(), isEnding: true)
          } else {
            try peer.send(FuzzPeer.frame(0, flags: 0, stream: stream, gateway.filled(piece)))
          }
        }
      }
    }
  }
}

/// A gateway that is replaced after a number of inputs, so that the state before an input is nearly reproducible.
private final class FuzzGateways {
  private var gateway: FuzzGateway?
  private var count = 0
  /// The number of inputs for one gateway.
  private static let lifetime = 400

  /// Connects a peer. Its byte `kind` gives the rights on the admin socket and the routes of the connection.
  func connect(_ kind: UInt8, _ body: (FuzzGateway, FuzzPeer) throws -> Void) {
    SerialTasks.begin
    count += 1
    if count % FuzzGateways.lifetime == 0 { gateway = nil }
    do {
      let current = try gateway ?? FuzzGateway()
      gateway = current
      let peers: [PeerOrigin] = [.remote, .adminSocket, .loopback, .adminSocket]
      let options = ConnectionOptions(
        environmentRule: .fixed(kind & 4 == 0 ? .development : .production), servesChannelsOnly: kind & 24 == 24,
        peer: peers[Int(kind & 3)])
      try current.connect(options) { try body(current, $0) }
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

extension FuzzGateway {
  /// Serves a connection of HTTP/1.1, whose client sends pieces of bytes and closes it.
  fileprivate func serve(_ pieces: [ArraySlice<UInt8>], isLoopback: Bool) throws {
    let messages = MessageRelay(environment: .development)
    handler.attach(messages)
    let web = WebAPI(
      setting: .loopback, session: WebSession(authority: nil), devices: DeviceAPI(parts),
      console: ConsoleAPI(session: .console(authority: nil), gate: admin.gate))
    // There is no admin socket: a stream is answered with 503.
    let page = HTTP1Page(
      web: web, environment: .development, socket: folder.file("none"), admin: admin.router.routes)
    let routes = HTTP1Routes(
      health: HealthAPI(check: parts.healthCheck), meters: meters, token: nil, logger: .trap, page: page,
      messages: messages)
    var isClosed = false
    let connection = HTTP1Connection(routes: routes, isLoopback: isLoopback) {
      precondition(!isClosed, "a connection ends twice")
      isClosed = true
    }
    let channel = EmbeddedChannel(loop: loop)
    try HTTP1Server.addHandlers(to: channel.pipeline.syncOperations, connection)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    for piece in pieces where channel.isActive {
      try channel.writeInbound(ByteBuffer(bytes: piece))
      settle()
      settleStorage()
    }
    if let first = try channel.readOutbound(as: IOData.self), case .byteBuffer(let bytes) = first {
      precondition(bytes.readableBytesView.starts(with: "HTTP/1.1 ".utf8), "an answer begins with its version")
    }
    channel.close(promise: nil)
    settle()
    precondition(isClosed, "a connection that is over stays")
  }
}

extension FuzzPeer {
  /// Sends the requests of an input, as ``FuzzTarget/requests`` describes them; `pause` is called after 0x1F.
  fileprivate func send(
    requests bytes: some Sequence<UInt8>, of gateway: FuzzGateway, pause: () throws -> Void
  ) throws {
    var request: [UInt8] = []
    for byte in Array(bytes) + [0x1E] {
      guard (0x1C...0x1F).contains(byte) else {
        request.append(byte)
        continue
      }
      try send(request: gateway.filled(request), isEnding: byte != 0x1C)
      request = []
      if byte == 0x1F { try pause() }
    }
  }

  /// Sends a request that is given as text.
  ///
  /// - Returns: The number of its stream.
  @discardableResult
  fileprivate func send(request text: [UInt8], isEnding: Bool) throws -> UInt32 {
    let end = text.firstRange(of: [0x0A, 0x0A])
    let lines = text[..<(end?.lowerBound ?? text.count)].split(separator: 0x0A)
    let body = Array(text[(end?.upperBound ?? text.count)...])
    let words = (lines.first ?? []).split(separator: 0x20, maxSplits: 1).map(Array.init)
    var head = FuzzPeer.field(Array(":method".utf8), words.first ?? [])
    head += FuzzPeer.field(Array(":scheme".utf8), Array("https".utf8))
    head += FuzzPeer.field(Array(":authority".utf8), Array("localhost".utf8))
    head += FuzzPeer.field(Array(":path".utf8), words.count > 1 ? words[1] : [])
    for line in lines.dropFirst() {
      let sides = line.split(separator: UInt8(ascii: ":"), maxSplits: 1).map { Array($0.drop { $0 == 0x20 }) }
      if sides.count == 2 { head += FuzzPeer.field(sides[0], sides[1]) }
    }
    let stream = nextStream()
    let hasBody = !body.isEmpty || !isEnding
    // Bytes that don't fit into one frame are omitted.
    var frames = FuzzPeer.frame(1, flags: hasBody ? 4 : 5, stream: stream, Array(head.prefix(16_384)))
    if !body.isEmpty {
      frames += FuzzPeer.frame(0, flags: isEnding ? 1 : 0, stream: stream, Array(body.prefix(16_384)))
    }
    try send(frames)
    return stream
  }
}

extension [UInt8] {
  /// Splits the bytes into pieces of a given size.
  fileprivate func pieces(of size: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
