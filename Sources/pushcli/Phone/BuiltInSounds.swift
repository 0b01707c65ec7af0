import CSounds

/// The sounds that every phone has, which `scripts/sounds` made: short, and told from each other with the eyes closed
/// (S2).
enum BuiltInSounds {
  /// Each as a WAV file of 16-bit samples, mono, by name.
  static let files: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for index in 0..<sound_count() {
      let bytes = unsafe UnsafeBufferPointer(start: sound_bytes(index), count: sound_size(index))
      unsafe files[String(cString: sound_name(index))] = Array(bytes)
    }
    return files
  }()

  /// The bytes before the first sample.
  static let headSize = 44

  /// A sound as a WAV file at a volume from 0 to 100, as a person hears it; nil where there is none of this name.
  static func file(_ name: String, volume: Int = 100) -> [UInt8]? {
    guard var file = files[name], volume < 100 else { return files[name] }
    // Twice as loud to the ear is more than twice to the wave.
    let gain = Double(volume * volume) / 10_000
    for place in stride(from: headSize, to: file.count - 1, by: 2) {
      let sample = Int16(bitPattern: UInt16(file[place]) | UInt16(file[place + 1]) << 8)
      let softer = UInt16(bitPattern: Int16((Double(sample) * gain).rounded()))
      file[place] = UInt8(truncatingIfNeeded: softer)
      file[place + 1] = UInt8(truncatingIfNeeded: softer >> 8)
    }
    return file
  }
}
