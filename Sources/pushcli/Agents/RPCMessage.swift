import PushPolicy

/// The id of a JSON-RPC request, or a progress token: a text or a whole number.
enum RPCID: Hashable, Sendable {
  case text(String)
  case number(Int)

  /// Reads an id; nil for any other value.
  init?(_ element: JSONElement?) {
    if let text = element?.string {
      self = .text(text)
    } else if let number = element?.integer {
      self = .number(number)
    } else {
      return nil
    }
  }

  var json: String {
    switch self {
    case .text(let text): jsonString(text)
    case .number(let number): "\(number)"
    }
  }
}

/// A message of a JSON-RPC client.
enum RPCMessage: Equatable, Sendable {
  case request(RPCID, method: String, RPCParameters)
  /// A request without an id, which has no answer.
  case notification(method: String, RPCParameters)
  /// An answer to a request of the server, which sends none.
  case answer
  /// JSON of another form, with the reason.
  case invalid(RPCID?, String)

  /// - Throws: `JSONSyntaxError` if the line is not one JSON value.
  init(parsing line: [UInt8]) throws(JSONSyntaxError) {
    self = try JSONParser().parse(line.span) { RPCMessage($0) }
  }

  private init(_ root: JSONElement) {
    guard root.kind == .object else {
      self = .invalid(nil, "expected one JSON object in a line")
      return
    }
    let id = RPCID(root["id"])
    guard root["jsonrpc"]?.string == "2.0" else {
      self = .invalid(id, "expected the member jsonrpc with the value \"2.0\"")
      return
    }
    guard let method = root["method"]?.string else {
      let isAnswer = root["result"] != nil || root["error"] != nil
      self = isAnswer ? .answer : .invalid(id, "expected the name of a method")
      return
    }
    let parameters = RPCParameters(root["params"])
    if root["id"] == nil {
      self = .notification(method: method, parameters)
    } else if let id {
      self = .request(id, method: method, parameters)
    } else {
      self = .invalid(nil, "expected an id that is a text or a whole number")
    }
  }
}

/// The parameters of a message that the server reads.
struct RPCParameters: Equatable, Sendable {
  var protocolVersion: String?
  var name: String?
  /// The arguments of a tool; nil if they are not an object.
  var arguments: [String: RPCArgument]? = [:]
  var progressToken: RPCID?
  var requestID: RPCID?

  init() {}

  init(_ element: JSONElement?) {
    guard let element else { return }
    protocolVersion = element["protocolVersion"]?.string
    name = element["name"]?.string
    if let meta = element["_meta"] { progressToken = RPCID(meta["progressToken"]) }
    requestID = RPCID(element["requestId"])
    guard let given = element["arguments"], given.kind != .null else { return }
    var found: [String: RPCArgument] = [:]
    given.forEachMember { found[$0] = RPCArgument($1) }
    arguments = given.kind == .object ? found : nil
  }
}

/// The value of a tool's argument.
enum RPCArgument: Equatable, Sendable {
  /// A text, or the digits of a whole number.
  case text(String)
  case texts([String])
  case other

  /// Reads a value; nil for null, which is the same as no argument.
  init?(_ element: JSONElement) {
    switch element.kind {
    case .null: return nil
    case .string: self = .text(element.string ?? "")
    case .integer: self = element.integer.map { RPCArgument.text("\($0)") } ?? .other
    case .array:
      var texts: [String] = []
      var count = 0
      element.forEachElement {
        count += 1
        if let text = $0.string { texts.append(text) }
      }
      self = texts.count == count ? .texts(texts) : .other
    case .bool, .double, .object: self = .other
    }
  }
}

func jsonString(_ text: String) -> String {
  var bytes: [UInt8] = []
  appendJSONString(text, to: &bytes)
  return String(decoding: bytes, as: UTF8.self)
}
