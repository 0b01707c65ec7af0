import Foundation

/// JSON of the control plane, with its keys in order.
package func controlJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  // The control plane's values are strings, numbers and lists of them: they can always be encoded.
  return (try? encoder.encode(value)).map(Array.init) ?? Array("{}".utf8)
}
