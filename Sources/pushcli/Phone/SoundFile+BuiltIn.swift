import CSounds

/// The sounds of every phone, created by `scripts/sounds`: short, and distinguishable without looking at the screen
/// (S2).
extension SoundFile {
  /// The sounds by name, each a WAV file of 16-bit mono samples.
  static let builtIns: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for index in 0..<sound_count() {
      let bytes = unsafe UnsafeBufferPointer(start: sound_bytes(index), count: sound_size(index))
      unsafe files[String(cString: sound_name(index))] = Array(bytes)
    }
    return files
  }()

  /// The number of bytes of a built-in sound before the first sample.
  static let builtInHeadSize = 44

  /// Returns a built-in sound as a WAV file at a perceived volume from 0 to 100; nil if no sound has this name.
  static func builtIn(_ name: String, volume: Int = 100) -> [UInt8]? {
    guard var file = builtIns[name], volume < 100 else { return builtIns[name] }
    // Twice the perceived loudness requires more than twice the amplitude.
    let gain = Double(volume * volume) / 10_000
    for place in stride(from: builtInHeadSize, to: file.count - 1, by: 2) {
      let sample = Int16(bitPattern: UInt16(file[place]) | UInt16(file[place + 1]) << 8)
      let softer = UInt16(bitPattern: Int16((Double(sample) * gain).rounded()))
      file[place] = UInt8(truncatingIfNeeded: softer)
      file[place + 1] = UInt8(truncatingIfNeeded: softer >> 8)
    }
    return file
  }
}
