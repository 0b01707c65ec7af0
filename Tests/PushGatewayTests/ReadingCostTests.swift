import GatewayProtocol
import HTTP2Transport
import PushPolicy
import PushTesting
import Testing

@testable import PushCore
@testable import PushGateway
@testable import PushStorage

#if DEBUG
  /// For any input, a parser takes a number of steps in proportion to the size of the input.
  @Suite struct ReadingCostTests {
    private static let parsers = [
      CountedParser("a query of values", "/v1/device/log?", repeating: "a=%41&", by: readRequest),
      CountedParser("a query of one value", "/v1/device/log?event=", repeating: "%2C", by: readRequest),
      CountedParser("a path of components", "/", repeating: "a/", by: readRequest),
      CountedParser("a path with a long name", "/v1/", repeating: "%41", by: readRequest),
      CountedParser("a position in the logs of a cluster", repeating: "a:1,", "a:1") { bytes in
        _ = LogPosition(text: String(decoding: bytes, as: UTF8.self))
      },
      CountedParser("a token of empty parts", repeating: ".", by: readToken),
      CountedParser("a token with long claims", "e30.", repeating: "A", ".AAAA", by: readToken),
      CountedParser("a token of members", "{", repeating: #""x":1,"#, #""x":1}"#) { bytes in
        let part = Base64URL.encode(bytes)
        readToken(Array("\(part).\(part).AAAA".utf8))
      },
      CountedParser("preferences of apps", #"{"apps":{"#, repeating: #""a":{},"#, #""b":{}}}"#) { bytes in
        _ = try? decodeJSON(Preferences.self, from: bytes)
      },
      CountedParser("settings given again", repeating: "loops: 2\n", by: readSettings),
      CountedParser("a setting of a list", "listen: [", repeating: "x,", "x]", by: readSettings),
      CountedParser("faults given again", "faults:\n", repeating: "- {name: a, reason: BadPath}\n", by: readFaults),
      CountedParser("a message of fields", repeating: "body=%41&", by: readMessage),
      CountedParser("a message of members", "{", repeating: #""a":1,"#, #""a":1}"#, by: readMessage),
      CountedParser(
        "a webhook of alerts", #"{"status":"firing","groupKey":"k","alerts":["#, repeating: #"{"labels":{"a":"b"}},"#,
        "{}]}"
      ) { bytes in
        _ = try? WebhookFormat.read(bytes, Hook(.alertmanager))
      },
      CountedParser("a webhook of commits", #"{"commits":["#, repeating: #"{"message":"a"},"#, "{}]}") { bytes in
        _ = try? WebhookFormat.read(bytes, Hook(.github))
      },
      CountedParser("a webhook of any JSON", #"{"t":["#, repeating: #"{"a":1},"#, "{}]}") { bytes in
        _ = try? WebhookFormat.read(bytes, Hook(.json, fields: ["title": "/t/0/a", "body": "/t/9", "subject": "/s"]))
      },
      CountedParser("a message of ntfy in JSON", #"{"topic":"t","tags":["#, repeating: #""a","#, #""b"]}"#) { bytes in
        readForeign(bytes) { _ = try? NtfyMessage($0, topic: nil, parser: JSONParser(), now: 0) }
      },
      CountedParser("a query of ntfy", repeating: "tags=a,%2C&") { bytes in
        readForeign(query: bytes) { _ = try? NtfyMessage($0, topic: "t", parser: JSONParser(), now: 0) }
      },
      CountedParser("tags of ntfy", "tags=", repeating: "=?utf-8?b?,") { bytes in
        readForeign(query: bytes) { _ = try? NtfyMessage($0, topic: "t", parser: JSONParser(), now: 0) }
      },
      CountedParser("a credential of ntfy", "auth=", repeating: "QUFB") { bytes in
        readForeign(query: bytes) { _ = NtfyMessage.token(of: $0) }
      },
      CountedParser("a form of Gotify", repeating: "message=%41&") { bytes in
        readForeign(bytes) { _ = try? GotifyMessage($0, parser: JSONParser(), now: 0) }
      },
      CountedParser("a message of Gotify in JSON", #"{"extras":{"#, repeating: #""a":{},"#, #""b":1}}"#) { bytes in
        readForeign(bytes) { _ = try? GotifyMessage($0, parser: JSONParser(), now: 0) }
      },
      CountedParser("cookies", repeating: "pushgateway-gateway; ") { bytes in
        var fields = BrowserFields()
        fields.cookie = String(decoding: bytes, as: UTF8.self)
        _ = WebSession(authority: nil).secret(fields)
      },
      CountedParser("a body for the audit trail", #"{"a":["#, repeating: #"{"b":"c"},"#, "{}]}") { bytes in
        _ = AuditedBody(bytes)
      },
      CountedParser("a text for the audit trail", #"{"a":""#, repeating: #"\u0041"#, #""}"#) { bytes in
        _ = AuditedBody(bytes)
      },
      CountedParser("a multipart form of parts", repeating: "--b\r\nname=a\r\n\r\n1\r\n") { bytes in
        _ = FormData.multipart(bytes, contentType: "multipart/form-data; boundary=b")
      },
      CountedParser("a multipart form of near boundaries", repeating: "--bb\n") { bytes in
        _ = FormData.multipart(bytes, contentType: "multipart/form-data; boundary=b")
      },
      CountedParser("a form of parts", repeating: "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n") {
        bytes in
        readForm(bytes)
      },
      CountedParser(
        "a form of near boundaries", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n", repeating: "\r\n--"
      ) {
        readForm($0)
      },
      CountedParser("parameters of a sender of Web Push", "vapid ", repeating: "k=A,") { bytes in
        _ = try? VAPIDToken(String(decoding: bytes, as: UTF8.self))
      },
      CountedParser("actions of ntfy", repeating: "view, a, b=;", by: readActions),
      CountedParser("a quoted action of ntfy", "view, '", repeating: "a\\'", by: readActions),
      CountedParser("encoded words", repeating: "=?utf-8?q?") { bytes in
        _ = EncodedWords.decoded(String(decoding: bytes, as: UTF8.self))
      },
      CountedParser("a delay of ntfy", repeating: "1s") { bytes in
        _ = NtfyDelay.time(String(decoding: bytes, as: UTF8.self), now: 0)
      },
      CountedParser("a pattern of choices", repeating: "a", by: search("(a|a)*b")),
      CountedParser("a pattern of repetitions", repeating: "a", by: search("^(a+)+b")),
      CountedParser("a pattern of two gaps", repeating: "x", by: search("x.*y.*z")),
    ]

    private static let router = Router([
      Router.Route("GET", "/v1/{name}") { _ in throw StoreError("not served") },
      Router.Route("POST", "/v1/device/log") { _ in throw StoreError("not served") },
    ])

    private static func readRequest(_ bytes: [UInt8]) {
      let target = String(decoding: bytes, as: UTF8.self)
      let request = ControlRequest(method: "GET", target: target, authorization: nil, from: .remote)
      _ = router.match(method: request.method, path: request.path)
    }

    private static func readForm(_ bytes: [UInt8]) {
      _ = try? MultipartForm(bytes, contentType: "multipart/form-data; boundary=b")
    }

    private static func readToken(_ bytes: [UInt8]) {
      let cache = ProviderTokenCache(registrations: MemoryRegistrations())
      _ = try? cache.token(bytes, parser: JSONParser())
    }

    private static func readSettings(_ bytes: [UInt8]) {
      _ = try? ConfigurationFile.entries(of: String(decoding: bytes, as: UTF8.self), "config.yaml")
    }

    private static func readFaults(_ bytes: [UInt8]) {
      _ = try? FaultRule.list(yaml: String(decoding: bytes, as: UTF8.self))
    }

    private static func readMessage(_ bytes: [UInt8]) {
      _ = try? SentMessage(bytes, contentType: nil, parser: JSONParser(), now: 0)
    }

    /// Reads a request in the form of another API, with a body or with a query.
    private static func readForeign(
      _ body: [UInt8] = [], query: [UInt8] = [], _ read: (ControlRequest) -> Void
    ) {
      let target = "/?" + String(decoding: query, as: UTF8.self)
      read(ControlRequest(method: "POST", target: target, body: body, authorization: nil, from: .remote))
    }

    private static func readActions(_ bytes: [UInt8]) {
      _ = try? NtfyAction.list(String(decoding: bytes, as: UTF8.self), parser: JSONParser())
    }

    private static func search(_ pattern: String) -> @Sendable ([UInt8]) -> Void {
      { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        #expect((try? LinearPattern(pattern))?.isFound(in: text) == false)
      }
    }

    @Test(arguments: parsers) func `a parser takes steps in proportion to its input`(_ parser: CountedParser) {
      let steps = parser.stepsPerByte
      // A parser that compared all pieces of an input with each other would take hundreds.
      #expect(steps.allSatisfy { $0 > 0 && $0 <= 40 }, "\(steps)")
    }
  }
#endif
