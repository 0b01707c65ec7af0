// The built-in sounds: tones, each a sum of harmonics that decays, as `scripts/sounds` makes them for the terminal.

const sine = [[1, 1]];
const glass = [[1, 1], [2.01, 0.35], [3.9, 0.12]];
const bell = [[1, 1], [2, 0.6], [2.4, 0.4], [3, 0.25], [4.5, 0.2]];
const wood = [[1, 1], [3.93, 0.3]];

/** Hertz, seconds from the beginning, seconds until it has decayed, harmonics. */
const sounds = {
  default: [[880, 0, 0.5, glass], [1174.7, 0.12, 0.6, glass]],
  chime: [[1046.5, 0, 0.5, glass], [1318.5, 0.12, 0.5, glass], [1568, 0.24, 0.7, glass]],
  bell: [[622.3, 0, 0.95, bell]],
  ding: [[1760, 0, 0.35, glass]],
  pop: [[330, 0, 0.08, sine], [660, 0.03, 0.08, sine]],
  knock: [[196, 0, 0.12, wood], [196, 0.18, 0.12, wood]],
  success: [[523.3, 0, 0.25, glass], [784, 0.14, 0.5, glass]],
  failure: [[392, 0, 0.3, glass], [277.2, 0.18, 0.55, glass]],
  alarm: [0, 1, 2, 3].map((index) => [index % 2 ? 740 : 988, index * 0.2, 0.2, bell]),
  whisper: [[440, 0, 0.6, sine]],
};

let context = null;

/** Creates the audio context; browsers permit sound only after the first key or click. */
export function unlock() {
  context ??= new AudioContext();
  context.resume();
}

/** Plays a sound by name. The default sound replaces a sound that the device lacks (S1). Returns false if sound is not permitted. */
export function play(name, volume) {
  if (!context || context.state !== "running" || volume <= 0) return false;
  const base = name.replace(/\.(wav|caf|aiff?)$/i, "");
  const tones = Object.hasOwn(sounds, base) ? sounds[base] : sounds.default;
  const master = new GainNode(context, { gain: 0.25 * volume * volume * (base === "whisper" ? 0.3 : 1) });
  master.connect(context.destination);
  for (const [frequency, start, length, partials] of tones) {
    const [begin, end] = [context.currentTime + start, context.currentTime + start + length];
    for (const [multiple, strength] of partials) {
      const gain = new GainNode(context, { gain: 0 });
      gain.gain.setValueAtTime(0, begin);
      gain.gain.linearRampToValueAtTime(strength, begin + 0.004);
      gain.gain.exponentialRampToValueAtTime(0.001, end);
      const tone = new OscillatorNode(context, { frequency: frequency * multiple });
      tone.connect(gain).connect(master);
      tone.start(begin);
      tone.stop(end);
    }
  }
  return true;
}
