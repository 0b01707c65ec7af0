import PushCore
import Testing

@testable import PushGateway

/// The sync interval in the reports of brokers.
struct BrokerReportTests {
  @Test(arguments: [
    (#"{"server_name":"n1","jetstream":{"config":{"sync_interval":120000000000}}}"#, SyncInterval.every(seconds: 120)),
    (#"{"server_name":"n1","jetstream":{"config":{"sync_interval":1,"sync_always":true}}}"#, .always),
    (#"{"server_name":"n1","jetstream":{}}"#, .unknown),
    (#"{"later":[1]}"#, .unknown),
  ])
  func theIntervalIsRead(_ text: String, _ interval: SyncInterval) throws {
    #expect(try decodeJSON(BrokerReport.self, from: Array(text.utf8)).sync == interval)
  }

  @Test func theWeakestCounts() {
    #expect(SyncInterval.weakest([]) == .unknown)
    #expect(SyncInterval.weakest([.always, .always]) == .always)
    #expect(SyncInterval.weakest([.always, .every(seconds: 1), .every(seconds: 120)]) == .every(seconds: 120))
    #expect(SyncInterval.weakest([.always, .unknown]) == .unknown)
  }

  @Test func thePromiseSaysWhatAPowerLossTakes() {
    #expect(DurabilityLevel.quorum(3, .every(seconds: 120)).words.contains("the pushes of the last 120 s"))
    #expect(DurabilityLevel.quorum(3, .always).words.contains("loses no push"))
    #expect(DurabilityLevel.quorum(1, .unknown).name == "single")
  }

  @Test func nobodyThereIsSaidInOneLine() async {
    await #expect { try await BrokerReport.read("127.0.0.1:1") } throws: {
      "\($0)".contains("127.0.0.1:1 does not answer") && !"\($0)".contains("\n")
    }
  }
}
