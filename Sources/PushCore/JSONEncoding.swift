import Foundation

/// Returns a value as JSON for the control plane, with sorted keys.
package func controlJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  // The control plane's values are strings, numbers and lists of them, which can always be encoded.
  return (try? encoder.encode(value)).map(Array.init) ?? Array("{}".utf8)
}
