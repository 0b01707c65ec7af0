import Foundation
import PushPolicy

/// Decodes one JSON value of at most `maximumDepth` levels.
///
/// Foundation's decoder ends the process on some invalid documents, so it is only given what simdjson has read: bytes that
/// come from outside are decoded here and nowhere else. The caller bounds their size.
/// - Throws: `JSONSyntaxError` when `bytes` are not one JSON value, or too deep; `DecodingError` when it is another value
///   than `type`.
package func decodeJSON<Value: Decodable>(
  _ type: Value.Type = Value.self, from bytes: some Collection<UInt8>, maximumDepth: Int = JSONParser.maximumDepth
) throws -> Value {
  let bytes = Array(bytes)
  try JSONParser(maximumDepth: maximumDepth).parse(bytes.span) { _ in }
  return try JSONDecoder().decode(type, from: Data(bytes))
}
