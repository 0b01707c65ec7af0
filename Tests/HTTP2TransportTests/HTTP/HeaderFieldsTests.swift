import PushTesting
import Testing

@testable import HTTP2Transport

@Suite struct HeaderFieldsTests {
  func texts(_ fields: HeaderFields) -> [[String]] {
    fields.fields.map { field in
      [field.name, field.value].map { String(decoding: fields.bytes[$0], as: UTF8.self) }
    }
  }

  @Test func `fields keep their order`() {
    var fields = HeaderFields(status: 200)
    fields.append(.apnsID, SampleRequest.id.utf8, isUnindexed: true)
    fields.append(.contentType, "application/json")
    #expect(
      texts(fields) == [[":status", "200"], ["apns-id", SampleRequest.id], ["content-type", "application/json"]]
    )
    #expect(fields.fields.map(\.isUnindexed) == [false, true, false])
  }

  @Test func `a value may be empty`() {
    var fields = HeaderFields()
    fields.append(.path, "".utf8)
    #expect(texts(fields) == [[":path", ""]])
  }

  @Test func `an emptied block starts anew`() {
    var fields = HeaderFields(status: 410)
    fields.removeAll()
    #expect(fields.bytes.isEmpty)
    fields.append(.status, "200")
    #expect(texts(fields) == [[":status", "200"]])
  }
}
