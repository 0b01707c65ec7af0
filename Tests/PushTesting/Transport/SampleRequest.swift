@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

/// An acceptable request of a provider, of which a test changes one thing.
struct SampleRequest {
  static let topic = "com.example.news"
  static let id = "0f8fad5b-d9cb-469f-A165-70867728950E"

  var fields: [(name: HeaderName, value: String)] = [
    (.method, "POST"), (.path, "/3/device/" + String(repeating: "ab", count: 32)), (.scheme, "https"),
    (.authority, "localhost"), (.apnsID, SampleRequest.id), (.apnsPushType, "alert"), (.apnsPriority, "5"),
    (.apnsExpiration, "1800003600"), (.apnsCollapseID, "weather"), (.apnsTopic, SampleRequest.topic),
  ]

  /// The request with one field replaced, or left out for nil.
  func with(_ name: HeaderName, _ value: String?) -> SampleRequest {
    var changed = self
    changed.fields.removeAll { $0.name == name }
    if let value { changed.fields.append((name, value)) }
    return changed
  }

  var message: Message {
    let message = Message()
    for (name, value) in fields { message.keep(name, value) }
    return message
  }
}

extension Message {
  /// Keeps a field given as text.
  func keep(_ name: HeaderName, _ value: String) {
    unsafe Array(value.utf8).withUnsafeBytes { unsafe append(name, $0) }
  }

  /// Takes a piece of the body.
  func keepBody(_ bytes: [UInt8]) {
    _ = unsafe bytes.withUnsafeBytes { unsafe appendBody($0) }
  }
}

/// What a check throws, or nil.
func rejection(_ check: () throws(Rejection) -> Void) -> Rejection? {
  do {
    try check()
    return nil
  } catch {
    return error
  }
}

extension DeviceToken {
  /// Reads 64 hex digits.
  init?(hex text: String) { self.init(hex: Array(text.utf8).span) }
}

extension PushType {
  /// Reads a header's value.
  init?(named text: String) { self.init(Array(text.utf8).span) }
}
