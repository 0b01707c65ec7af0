import GatewayProtocol
import HTTP2Transport
import NIOCore
import NIOEmbedded
import PushCore
import PushTesting
import Testing

@testable import LoadTest

/// A device of a load test, without a socket.
@Suite struct LoadDeviceTests {
  private let loop = EmbeddedEventLoop()
  private let files: TLSFiles
  private let worker: LoadWorker
  private let channel: EmbeddedChannel
  private var device: LoadDevice { worker.devices[0] }

  init() throws {
    files = try TLSFiles()
    var plan = LoadPlan()
    (plan.devices, plan.providers) = (1, 1)
    let target = LoadTarget(
      addresses: [.init(host: "localhost", port: 1)], trustPath: files.trust, adminSocket: nil, topic: "a.b")
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
    worker = LoadWorker(
      index: 0, plan: plan, target: target, run: 1, wallStart: 0, credentials: [], addresses: [address],
      tls: try .client(trustPath: files.trust), loop: loop)
    let connection = try Connection(role: .client, loop: LoopContext(eventLoop: loop), tls: nil, peer: .remote)
    try worker.devices[0].attach(
      connection, try TLSConnection(client: .client(trustPath: files.trust), host: "localhost"), secret: "secret")
    channel = EmbeddedChannel(handler: connection, loop: loop)
    channel.connect(to: address, promise: nil)
    loop.run()
  }

  private func send(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe device.received($0) }
    loop.run()
  }

  @Test func `a line without an end ends the connection, which counts as lost`() {
    let piece = [UInt8](repeating: 0x20, count: 16_384)
    for _ in 0..<Limits.maximumGatewayLineSize / piece.count { send(piece) }
    #expect(channel.isActive)
    #expect(worker.tally.connectionsLost == 0)
    send([0x20])
    #expect(!channel.isActive)
    #expect(worker.tally.connectionsLost == 1)
    #expect(worker.tally.lastLoss?.contains("4 MiB") == true, "\(worker.tally.lastLoss ?? "")")
  }

  @Test func `lines that end are no line without an end, however much they are together`() {
    let line = [UInt8](repeating: 0x20, count: 1 << 20) + [0x0A]
    for _ in 0..<6 { send(line) }
    #expect(channel.isActive)
    #expect(worker.tally.connectionsLost == 0)
  }
}
