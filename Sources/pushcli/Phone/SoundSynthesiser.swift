import Foundation

/// The built-in sounds, made by computing them: short, and told from each other with the eyes closed (S2).
enum SoundSynthesiser {
  /// One struck tone.
  struct Tone: Sendable {
    /// Hertz.
    var frequency: Double
    /// Seconds from the beginning of the sound.
    var start: Double
    /// Seconds until it is hardly heard.
    var length: Double
    var loudness = 1.0
    /// The strength of each harmonic: what makes a bell of a sine.
    var partials: [(multiple: Double, strength: Double)] = [(1, 1)]
  }

  static let sampleRate = 22_050
  /// Seconds.
  static let maximumLength = 1.0

  private static let glass: [(multiple: Double, strength: Double)] = [(1, 1), (2.01, 0.35), (3.9, 0.12)]
  private static let bell: [(multiple: Double, strength: Double)] = [
    (1, 1), (2, 0.6), (2.4, 0.4), (3, 0.25), (4.5, 0.2),
  ]
  private static let wood: [(multiple: Double, strength: Double)] = [(1, 1), (3.93, 0.3)]

  /// Every built-in sound by name.
  static let sounds: [String: [Tone]] = [
    "default": [
      Tone(frequency: 880, start: 0, length: 0.5, partials: glass),
      Tone(frequency: 1_174.7, start: 0.12, length: 0.6, partials: glass),
    ],
    "chime": [
      Tone(frequency: 1_046.5, start: 0, length: 0.5, partials: glass),
      Tone(frequency: 1_318.5, start: 0.12, length: 0.5, partials: glass),
      Tone(frequency: 1_568, start: 0.24, length: 0.7, partials: glass),
    ],
    "bell": [Tone(frequency: 622.3, start: 0, length: 0.95, partials: bell)],
    "ding": [Tone(frequency: 1_760, start: 0, length: 0.35, partials: glass)],
    "pop": [Tone(frequency: 330, start: 0, length: 0.08), Tone(frequency: 660, start: 0.03, length: 0.08)],
    "knock": [
      Tone(frequency: 196, start: 0, length: 0.12, partials: wood),
      Tone(frequency: 196, start: 0.18, length: 0.12, partials: wood),
    ],
    "success": [
      Tone(frequency: 523.3, start: 0, length: 0.25, partials: glass),
      Tone(frequency: 784, start: 0.14, length: 0.5, partials: glass),
    ],
    "failure": [
      Tone(frequency: 392, start: 0, length: 0.3, partials: glass),
      Tone(frequency: 277.2, start: 0.18, length: 0.55, partials: glass),
    ],
    "alarm": (0..<4).map {
      Tone(frequency: $0 % 2 == 0 ? 988 : 740, start: Double($0) * 0.2, length: 0.2, partials: bell)
    },
    "whisper": [Tone(frequency: 440, start: 0, length: 0.6, loudness: 0.3)],
  ]

  /// A sound as a WAV file: 16 bits, mono.
  ///
  /// - Parameter volume: From 0 to 100, as a person hears it.
  static func wave(_ tones: [Tone], volume: Int = 100) -> [UInt8] {
    let length = min(tones.map { $0.start + $0.length }.max() ?? 0, maximumLength)
    var samples = [Double](repeating: 0, count: Int(length * Double(sampleRate)))
    for tone in tones { add(tone, to: &samples) }
    let peak = max(samples.reduce(0) { max($0, abs($1)) }, .leastNonzeroMagnitude)
    let loudest = tones.map(\.loudness).max() ?? 1
    // Twice as loud to the ear is more than twice to the wave.
    let gain = 0.7 * loudest * pow(Double(volume) / 100, 2) / peak
    return file(samples.map { Int16(($0 * gain * 32_767).rounded()) })
  }

  private static func add(_ tone: Tone, to samples: inout [Double]) {
    let first = Int(tone.start * Double(sampleRate))
    let last = min(first + Int(tone.length * Double(sampleRate)), samples.count)
    for index in first..<last {
      let time = Double(index - first) / Double(sampleRate)
      // A soft beginning and a struck decay, down to nothing at the end.
      let attack = min(time / 0.004, 1)
      let envelope = attack * exp(-5 * time / tone.length) * min((tone.length - time) / 0.01, 1)
      var value = 0.0
      for partial in tone.partials {
        value += partial.strength * sin(2 * .pi * tone.frequency * partial.multiple * time)
      }
      samples[index] += tone.loudness * envelope * value
    }
  }

  /// RIFF, as every player reads it.
  private static func file(_ samples: [Int16]) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ text: String) { bytes += text.utf8 }
    func append32(_ value: Int) { bytes += littleEndian(UInt32(value), count: 4) }
    func append16(_ value: Int) { bytes += littleEndian(UInt32(value), count: 2) }
    let dataSize = samples.count * 2
    append("RIFF")
    append32(36 + dataSize)
    append("WAVEfmt ")
    append32(16)
    append16(1)
    append16(1)
    append32(sampleRate)
    append32(sampleRate * 2)
    append16(2)
    append16(16)
    append("data")
    append32(dataSize)
    for sample in samples { append16(Int(UInt16(bitPattern: sample))) }
    return bytes
  }

  private static func littleEndian(_ value: UInt32, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }
}
