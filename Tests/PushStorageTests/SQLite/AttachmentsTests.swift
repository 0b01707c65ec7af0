import GRDB
import PushTesting
import Testing

@testable import PushCore
@testable import PushStorage

@Suite struct AttachmentsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteStore
  private let attachments: Attachments

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore(path: folder.file("push.sqlite"))
    attachments = try Attachments(store: store)
  }

  private static let phone = MessageSender.Recipient.device(DeviceID(row: 3))
  private static let desk = MessageSender.Recipient.device(DeviceID(row: 4))
  private static let ops = MessageSender.Recipient.group(1)

  private func attachment(
    _ number: Int, sender: String = "backup", app: Int64 = 1, size: Int = 3,
    to recipients: [MessageSender.Recipient] = [AttachmentsTests.phone, AttachmentsTests.ops], expires: Int64 = 100
  ) -> StoredAttachment {
    let digits = String(number)
    let id = String(repeating: "0", count: 32 - digits.count) + digits
    return StoredAttachment(
      AttachmentReference(id: id, name: "report.txt", type: .text, size: size), sender: sender, app: AppID(row: app),
      recipients: recipients, expires: expires)
  }

  private func put(_ one: StoredAttachment) async throws -> Attachments.Outcome {
    // The described size counts.
    try await attachments.put(one, content: [UInt8](repeating: 7, count: min(one.reference.size, 3)))
  }

  private func rowCount() async throws -> Int? {
    try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM attachment") }
  }

  @Test func `an attachment is found until its end, also by the next program that opens the database`() async throws {
    let one = attachment(1)
    let outcome = try await put(one)
    #expect(outcome == .stored)
    for attachments in [attachments, try Attachments(store: store)] {
      #expect(attachments.find(one.id, now: 99) == one)
      #expect(attachments.find(one.id, now: 100) == nil)
      #expect(attachments.find(attachment(2).id, now: 0) == nil)
      let content = try await attachments.content(of: one.id)
      #expect(content == [7, 7, 7])
      #expect(attachments.usage.bytes == 3 + Limits.attachmentOverhead)
    }
  }

  @Test func `expired attachments are deleted, however many they are`() async throws {
    for number in 0..<2 * Limits.attachmentSlice + 1 { _ = try await put(attachment(number, expires: 50)) }
    _ = try await put(attachment(99, expires: 51))
    try await attachments.trim(now: 50)
    let count = try await rowCount()
    #expect(count == 1)
    #expect(attachments.usage.bytes == 3 + Limits.attachmentOverhead)
    let content = try await attachments.content(of: attachment(0).id)
    #expect(content == nil)
  }

  @Test func `the attachments of a sender have a maximum size, which removed ones release`() async throws {
    let size = Limits.maximumAttachmentSize
    let fitting = Limits.maximumSenderAttachments / (size + Limits.attachmentOverhead)
    for number in 0..<fitting {
      let outcome = try await put(attachment(number, size: size))
      #expect(outcome == .stored)
    }
    let excess = try await put(attachment(900, size: size))
    #expect(excess == .senderIsFull)
    let other = try await put(attachment(901, sender: "ci"))
    #expect(other == .stored)
    try await attachments.remove(attachment(0).id)
    let next = try await put(attachment(900, size: size))
    #expect(next == .stored)
  }

  @Test func `a failed write releases its space`() async throws {
    _ = try await put(attachment(1))
    await #expect(throws: StoreError.self) { _ = try await put(attachment(1, sender: "ci")) }
    #expect(attachments.usage.bytes == 3 + Limits.attachmentOverhead)
  }

  @Test func `recipients that are gone leave, and with the last one the attachment`() async throws {
    _ = try await put(attachment(1))
    _ = try await put(attachment(2, to: [Self.phone]))
    _ = try await put(attachment(3, to: [Self.desk]))
    try await attachments.forget { $0 == Self.phone }
    for attachments in [attachments, try Attachments(store: store)] {
      #expect(attachments.find(attachment(1).id, now: 0)?.recipients == [Self.ops])
      #expect(attachments.find(attachment(2).id, now: 0) == nil)
      #expect(attachments.find(attachment(3).id, now: 0)?.recipients == [Self.desk])
    }
  }

  @Test func `a removed app has no attachments`() async throws {
    _ = try await put(attachment(1, app: 1))
    _ = try await put(attachment(2, app: 2))
    try await attachments.forget(AppID(row: 1))
    #expect(attachments.find(attachment(1).id, now: 0) == nil)
    #expect(attachments.find(attachment(2).id, now: 0) != nil)
  }
}
