package import HTTP2Transport
package import PushCore

/// A valid request of a provider. Each test changes one field.
package struct SampleRequest {
  package static let topic = "com.example.news"
  package static let id = "0f8fad5b-d9cb-469f-A165-70867728950E"

  package var fields: [(name: HeaderName, value: String)] = [
    (.method, "POST"), (.path, "/3/device/" + String(repeating: "ab", count: 32)), (.scheme, "https"),
    (.authority, "localhost"), (.apnsID, SampleRequest.id), (.apnsPushType, "alert"), (.apnsPriority, "5"),
    (.apnsExpiration, "1800003600"), (.apnsCollapseID, "weather"), (.apnsTopic, SampleRequest.topic),
  ]

  package init() {}

  /// Returns the request with one field replaced, or removed if `value` is nil.
  package func with(_ name: HeaderName, _ value: String?) -> SampleRequest {
    var changed = self
    changed.fields.removeAll { $0.name == name }
    if let value { changed.fields.append((name, value)) }
    return changed
  }

  package var message: Message {
    let message = Message()
    for (name, value) in fields { message.keep(name, value) }
    return message
  }
}

extension Message {
  /// Adds a field that is given as text.
  package func keep(_ name: HeaderName, _ value: String) {
    unsafe Array(value.utf8).withUnsafeBytes { unsafe append(name, $0) }
  }

  /// Appends bytes to the body.
  package func keepBody(_ bytes: [UInt8]) {
    _ = unsafe bytes.withUnsafeBytes { unsafe appendBody($0) }
  }
}

extension DeviceToken {
  /// Reads a token from 64 hex digits.
  package init?(hex text: String) { self.init(hex: Array(text.utf8).span) }
}

extension PushType {
  /// Reads the value of a header field.
  package init?(named text: String) { self.init(Array(text.utf8).span) }
}
