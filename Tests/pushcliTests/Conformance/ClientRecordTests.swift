import Foundation
import PushGateway
import Testing

@testable import pushcli

@Suite struct ClientRecordTests {
  private func record(_ events: [DeviceTap.Event], _ lines: [String] = []) -> ClientRecord {
    var record = ClientRecord()
    for event in events { record.note(event) }
    for line in lines { record.note(Array(line.utf8)) }
    return record
  }

  @Test func `a number is acknowledged again only on the same stream`() {
    let once = record([
      .opened(stream: 1, device: "desk"), .acknowledgement(stream: 1, seq: 3), .acknowledgement(stream: 1, seq: 5),
      .closed(stream: 1), .opened(stream: 2, device: "desk"), .acknowledgement(stream: 2, seq: 5),
    ])
    #expect(once.repeated.isEmpty)
    #expect(once.streams == 2 && once.attempts == 2 && once.open == [2] && once.device == "desk")
    let again = record([.acknowledgement(stream: 1, seq: 5), .acknowledgement(stream: 1, seq: 5)])
    #expect(again.repeated == [5])
    #expect(record([.acknowledgement(stream: 1, seq: 5), .acknowledgement(stream: 1, seq: 4)]).repeated == [4])
  }

  @Test func `a refused request is an attempt without a stream`() {
    let record = record([.refused, .refused])
    #expect(record.attempts == 2 && record.streams == 0)
  }

  @Test func `each line of JSON is an event, and other output is ignored`() {
    let id = "9b33ebbd-e8cf-4aaa-8000-82b4d423e14d"
    let record = record(
      [.acknowledged(id)],
      [
        #"{"shown":"\#(id)","alert":{"title":"Hi"}}"#, "Connecting…", "", #"{"shown":7}"#, "[1]",
        #"{"badge":3,"topic":"com.example.news"}"#, #"{"retracted":"\#(id)"}"#, #"{"type":"push","id":"x"}"#,
      ])
    #expect(record.shown == [id.uppercased(): 1])
    #expect(record.badge == 3)
    #expect(record.retracted == [id.uppercased()])
    #expect(record.missing([id.uppercased()]).isEmpty)
    #expect(record.missing(["OTHER"]) == ["OTHER"])
  }
}
