import PushPolicy

/// Parses a payload given as text.
func payload(_ text: String) throws(PayloadError) -> ParsedPayload {
  try JSONParser().payload(Array(text.utf8).span)
}

/// Parses a payload with the given members of `aps`.
func aps(_ members: String) throws(PayloadError) -> ParsedPayload {
  try payload(#"{"aps":{\#(members)}}"#)
}

/// SplitMix64: a seeded generator of random numbers.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
