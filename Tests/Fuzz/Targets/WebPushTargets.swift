import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

@testable import PushGateway

extension FuzzTarget {
  /// A message of Web Push: lines with fields, an empty line and the body. The body is also read as a decrypted message. An
  /// accepted message and a decrypted one are payloads without a fault.
  static let webPush = FuzzTarget("web-push", maximumSize: 600) {
    let parser = JSONParser()
    let endpoint = MessageSender.Endpoint(id: "id", origin: "https://localhost:2197", holdsAds: true)
    let key = try ES256Key.generate()
    let secret = [UInt8](repeating: 0, count: WebPushEncryption.secretSize)
    return { bytes in
      let end = bytes.firstRange(of: [0x0A, 0x0A])
      let lines = bytes[..<(end?.lowerBound ?? bytes.endIndex)].split(separator: 0x0A)
      let body = Array(bytes[(end?.upperBound ?? bytes.endIndex)...])
      var request = ControlRequest(
        method: "POST", target: "/webpush/id", body: body, authorization: nil, from: .remote)
      for line in lines {
        let sides = String(decoding: line, as: UTF8.self).split(separator: ":", maxSplits: 1).map(String.init)
        if sides.count == 2 { request.fields[sides[0].lowercased()] = sides[1] }
      }
      _ = WebPushPath(request.fields["path"] ?? "")
      let token = try? VAPIDToken(request.fields["authorization"] ?? "")
      _ = try? token?.verify(origin: endpoint.origin, parser: parser, now: 0)
      _ = try? WebPushEncryption.open(body, by: key, secret: secret)
      let sent = (try? WebPushMessage(request, to: endpoint))?.sent.payload
      let decrypted = WebPushNotification.read(body, parser: parser)?.payload(level: .active, hasSound: true)
      for payload in [sent, decrypted].compactMap(\.self) {
        guard let parsed = try? parser.payload(payload.span) else { fatalError("a payload is JSON") }
        precondition(parsed.faults.allSatisfy { $0.pointer == "/aps/badge" }, "only a badge may have a fault")
      }
    }
  }
}
