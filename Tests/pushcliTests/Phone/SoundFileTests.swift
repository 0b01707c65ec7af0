import Foundation
import Testing

@testable import pushcli

@Suite struct SoundFileTests {
  private func length(_ bytes: [UInt8]) -> Double? { SoundFile.length(head: bytes, tail: bytes, size: bytes.count) }

  private func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private func littleEndian(_ value: Int, _ count: Int) -> [UInt8] { bigEndian(value, count).reversed() }

  /// Returns the duration of a WAV file with this header. A sample has one byte, at `rate` samples per second.
  private func wave(rate: Int, dataSize: Int, fileSize: Int) -> Double? {
    var bytes = Array("RIFF".utf8) + littleEndian(0, 4) + Array("WAVELIST".utf8) + littleEndian(3, 4) + [1, 2, 3, 0]
    bytes += Array("fmt ".utf8) + littleEndian(16, 4) + littleEndian(1, 2) + littleEndian(1, 2)
    bytes += littleEndian(rate, 4) + littleEndian(rate, 4) + littleEndian(1, 2) + littleEndian(8, 2)
    bytes += Array("data".utf8) + littleEndian(dataSize, 4)
    return SoundFile.length(head: bytes, tail: bytes, size: bytes.count + fileSize)
  }

  @Test func `a WAV file says its length, also when it does not know its size`() {
    #expect(wave(rate: 8_000, dataSize: 16_000, fileSize: 16_000) == 2)
    #expect(wave(rate: 8_000, dataSize: 0xFFFF_FFFF, fileSize: 240_001) == 240_001.0 / 8_000)
    #expect(wave(rate: 0, dataSize: 16_000, fileSize: 16_000) == nil)
  }

  @Test func `an AIFF file says its length`() {
    // 44,100 Hz as an 80-bit float.
    let rate: [UInt8] = [0x40, 0x0E, 0xAC, 0x44, 0, 0, 0, 0, 0, 0]
    let common = bigEndian(2, 2) + bigEndian(88_200, 4) + bigEndian(16, 2) + rate
    let head = Array("FORM".utf8) + bigEndian(0, 4) + Array("AIFFCOMM".utf8) + bigEndian(common.count, 4)
    #expect(length(head + common) == 2)
  }

  private func page(_ position: Int, _ packet: [UInt8]) -> [UInt8] {
    Array("OggS".utf8) + [0, 2] + littleEndian(position, 8) + [UInt8](repeating: 0, count: 12) + [1]
      + [UInt8(packet.count)] + packet
  }

  @Test func `an Ogg file says its length by its last page`() {
    let vorbis = [1] + Array("vorbis".utf8) + littleEndian(0, 4) + [2] + littleEndian(22_050, 4)
    #expect(length(page(0, vorbis) + page(11_025, [7]) + page(44_100, [7, 7])) == 2)
    #expect(length(page(0, Array("OpusHead".utf8)) + page(96_000, [7])) == 2)
    #expect(length(page(0, Array("theora".utf8)) + page(96_000, [7])) == nil)
  }

  @Test func `what is no sound, or is cut off anywhere, has no length or a shorter one`() {
    #expect(length([]) == nil)
    #expect(length(Array("ID3 something".utf8)) == nil)
    let whole = SoundFile.builtIns["bell"] ?? []
    #expect(length(whole) == Double(whole.count - SoundFile.builtInHeadSize) / 44_100)
    for size in 0..<60 { #expect((length(Array(whole.prefix(size))) ?? 0) < 0.01) }
  }
}
