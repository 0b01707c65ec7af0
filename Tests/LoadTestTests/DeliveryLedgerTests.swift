import Testing

@testable import LoadTest

@Suite struct DeliveryLedgerTests {
  /// Returns a ledger in which provider 1 has sent `count` pushes to device 2.
  private func ledger(sent count: Int) -> DeliveryLedger {
    var ledger = DeliveryLedger(providers: 2, devices: 3)
    for number in 0..<count { #expect(ledger.send(provider: 1, device: 2) == UInt32(number)) }
    return ledger
  }

  private func arrive(_ ledger: inout DeliveryLedger, _ numbers: [UInt32]) -> [DeliveryLedger.Arrival] {
    numbers.map { ledger.arrive(provider: 1, device: 2, number: $0) }
  }

  @Test func `what arrives once and in order is fine`() {
    var ledger = ledger(sent: 3)
    #expect(arrive(&ledger, [0, 1, 2]) == [.inOrder, .inOrder, .inOrder])
    #expect(ledger.missing { _ in true }.isEmpty)
  }

  @Test func `a second arrival is a duplicate`() {
    var ledger = ledger(sent: 3)
    #expect(
      arrive(&ledger, [0, 0, 2, 2, 1, 1]) == [.inOrder, .duplicate, .inOrder, .duplicate, .reordered, .duplicate])
  }

  @Test func `an arrival after a later one is reordered, and no longer missing`() {
    var ledger = ledger(sent: 4)
    #expect(arrive(&ledger, [3, 1]) == [.inOrder, .reordered])
    #expect(ledger.missing { _ in true } == [2: 2])
    #expect(arrive(&ledger, [0, 2]) == [.reordered, .reordered])
    #expect(ledger.missing { _ in true }.isEmpty)
  }

  @Test func `a push that was sent again may come late`() {
    var ledger = ledger(sent: 2)
    ledger.retry(provider: 1, device: 2, number: 0)
    #expect(arrive(&ledger, [1, 0, 0]) == [.inOrder, .lateRetry, .duplicate])
  }

  @Test func `what never arrives is missing, unless it was refused or its device is not expected`() {
    var ledger = ledger(sent: 5)
    _ = arrive(&ledger, [0, 2])
    #expect(ledger.missing { _ in true } == [2: 3])
    ledger.refuse(provider: 1, device: 2, number: 1)
    ledger.refuse(provider: 1, device: 2, number: 4)
    #expect(ledger.missing { _ in true } == [2: 1])
    #expect(ledger.missing { $0 != 2 }.isEmpty)
  }

  @Test func `what was never sent to a device is misdelivered`() {
    var ledger = ledger(sent: 1)
    #expect(ledger.arrive(provider: 0, device: 2, number: 0) == .misdelivered)
    #expect(ledger.arrive(provider: 1, device: 2, number: 1) == .misdelivered)
    #expect(ledger.arrive(provider: 7, device: 2, number: 0) == .misdelivered)
    #expect(ledger.arrive(provider: 0, device: 3, number: 0) == .misdelivered)
  }
}
