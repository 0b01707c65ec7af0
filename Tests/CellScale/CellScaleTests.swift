import PushTesting
import Testing

/// A small run of the scale simulation of `make simulate-scale`: the counts per device and per push are those of a
/// large run.
@Suite(.timeLimit(.minutes(5))) struct CellScaleTests {
  @Test func `a small cell costs for each device and push what a large one does`() async throws {
    let size = ScaleSize.small
    let run = try await ScaleRun(size)
    // Each push is stored, announced to the gateway of its device, and deleted. Gateways with neither the sender nor
    // the device receive no message.
    #expect(run.sent.traffic[.push].sent == size.pushes)
    #expect(run.sent.traffic[.live].received == size.pushes)
    #expect(run.sent.traffic[.delete].sent == size.pushes)
    #expect(run.uninvolved == 0)
    #expect(run.connected.traffic[.subscribe].sent == size.devices)
    #expect(run.connected.traffic[.page].sent == size.devices)
    #expect(run.lookedInTurn.traffic[.page].sent <= size.partitions + size.devices(of: 0).count / 100)
    #expect(run.lookedInTurn.traffic.total.received == run.lookedInTurn.traffic[.page].sent)
    #expect(run.found == size.devices)
    #expect(run.returned.traffic[.page].sent == size.devices(of: size.gateways - 1).count)
  }
}
