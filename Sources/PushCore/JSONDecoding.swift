import Foundation
import PushPolicy

/// Decodes one JSON value of at most `maximumDepth` levels.
///
/// Foundation's decoder crashes the process on some invalid documents, so simdjson parses the bytes first. All bytes
/// from outside the process are decoded with this function. The caller limits their size.
///
/// - Throws: `JSONSyntaxError` if `bytes` are not one JSON value, or are nested too deeply; `DecodingError` if the
///   value does not match `type`.
package func decodeJSON<Value: Decodable>(
  _ type: Value.Type = Value.self, from bytes: some Collection<UInt8>, maximumDepth: Int = JSONParser.maximumDepth
) throws -> Value {
  let bytes = Array(bytes)
  try JSONParser(maximumDepth: maximumDepth).parse(bytes.span) { _ in }
  ReadingSteps.add(bytes.count)
  return try JSONDecoder().decode(type, from: Data(bytes))
}
