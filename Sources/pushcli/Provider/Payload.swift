import Foundation

struct Payload {
  var bytes: [UInt8]
  /// The member of simulator payload files that names the app (reference §9.3).
  private static let target = "Simulator Target Bundle"

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads the payload from its source.
  ///
  /// - Throws: ``CommandFailure`` of wrong usage if there is nothing to send or a file can't be read.
  init(_ source: PayloadSource, _ content: PayloadContent) throws {
    let body: String?
    switch source {
    case .file(let path):
      bytes = try readFile(path)
      return
    case .pipedBody: body = try StandardInput.text()
    case .flags(let given): body = given
    }
    guard content.hasContent || body?.isEmpty == false else {
      throw CommandFailure(
        .usage, "there is nothing to send: name a --title, write a message after the options, or pipe one in")
    }
    bytes = try content.payload(body: body)
  }

  /// Removes the app from a simulator's payload file and returns it.
  mutating func takeTarget() -> String? {
    guard var object = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any],
      let target = object.removeValue(forKey: Payload.target) as? String,
      let rest = try? JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
    else { return nil }
    bytes = Array(rest)
    return target
  }
}
