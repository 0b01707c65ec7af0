import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

/// Rows of a delivery log in the format for other gateways.
@Suite struct LogPassageTests {
  private let records: [DeliveryLog.Record] = (1...100).map { (number: Int) -> DeliveryLog.Record in
    let app: AppID? = number.isMultiple(of: 2) ? AppID(row: 3) : nil
    let row = DeliveryLog.Row(
      at: Int64(number), event: .accepted, id: .number(number), uniqueID: .number(1000 + number),
      device: DeviceID(row: 7), app: app, detail: .words("at the door"))
    let text: String? = number.isMultiple(of: 3) ? "Title \(number)\nText" : nil
    return DeliveryLog.Record(number: Int64(number) << 20, row: row, text: text)
  }

  @Test func `rows arrive as they were`() throws {
    let bytes = LogPassage(records: records, next: 1 << 40, isComplete: true).encoded(.newest, maximumSize: .max)
    let read = try #require(LogPassage(bytes))
    #expect(read.next == 1 << 40 && read.isComplete)
    #expect(read.records.map(\.number) == records.map(\.number))
    #expect(read.records.map(\.row.at) == records.map(\.row.at))
    #expect(read.records.map(\.row.id) == records.map(\.row.id))
    #expect(read.records.map(\.row.uniqueID) == records.map(\.row.uniqueID))
    #expect(read.records.map(\.row.device) == records.map(\.row.device))
    #expect(read.records.map(\.row.app) == records.map(\.row.app))
    #expect(read.records.map(\.row.detail) == records.map(\.row.detail))
    #expect(read.records.map(\.text) == records.map(\.text))
  }

  @Test func `what is too much for a message is cut at the end that is read later`() throws {
    let passage = LogPassage(records: records, next: 1 << 40, isComplete: true)
    let oldest = try #require(LogPassage(passage.encoded(.newest, maximumSize: 2_000)))
    #expect(!oldest.isComplete && !oldest.records.isEmpty && oldest.next == oldest.records.last?.number)
    #expect(oldest.records.map(\.number) == records.prefix(oldest.records.count).map(\.number))
    let newest = try #require(LogPassage(passage.encoded(.oldest, maximumSize: 2_000)))
    #expect(!newest.isComplete && !newest.records.isEmpty)
    #expect(newest.records.map(\.number) == records.suffix(newest.records.count).map(\.number))
    #expect(passage.encoded(.newest, maximumSize: 2_000).count <= 2_000)
  }

  @Test func `whatever bytes come, it is read or refused`() {
    let bytes = LogPassage(records: Array(records.prefix(3)), isComplete: false).encoded(.newest, maximumSize: .max)
    for end in bytes.indices { _ = LogPassage(Array(bytes[..<end])) }
    for index in bytes.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var changed = bytes
        changed[index] = value
        guard let read = LogPassage(changed) else { continue }
        #expect(read.records.count <= 3 && read.records.allSatisfy { (0..<Int64.max).contains($0.number) })
      }
    }
  }
}
