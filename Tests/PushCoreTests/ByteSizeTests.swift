import Testing

@testable import PushCore

@Suite struct ByteSizeTests {
  @Test(
    arguments: [
      ("1KiB", 1 << 10), ("512MiB", 512 << 20), ("1GiB", 1 << 30), ("2TiB", 2 << 40), ("0MiB", 0),
    ] as [(String, Int64)])
  func `a number with a unit is a size`(_ text: String, _ bytes: Int64) {
    #expect(ByteSize(text)?.bytes == bytes)
    if bytes > 0 { #expect(ByteSize(bytes).exact == text) }
  }

  @Test(
    arguments: [
      "", "1", "MiB", "-1MiB", "1.5GiB", "1 GiB", "1GB", "1gib", "9999999999999TiB", "999999999999999999TiB", "１MiB",
      "+1MiB", "1MiB ",
    ])
  func `anything else is none`(_ text: String) { #expect(ByteSize(text) == nil) }

  @Test(
    arguments: [
      (0, "0 bytes"), (1023, "1023 bytes"), (1 << 10, "1KiB"), (1536, "1.5KiB"), (11 << 20 + 5, "11MiB"),
      (1 << 30 - 1, "1023MiB"),
    ] as [(Int64, String)])
  func `a size is shown in its largest unit`(_ bytes: Int64, _ text: String) {
    #expect(ByteSize(bytes).description == text)
  }

  @Test func `written exactly it reads as it was`() {
    for bytes in [Int64(1536), 3 << 19, 5 << 30] {
      #expect(ByteSize(ByteSize(bytes << 10).exact)?.bytes == bytes << 10)
    }
  }
}
