import Foundation
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The refusal of a control-plane request: problem details (RFC 9457).
struct Problem: Error, Encodable {
  var status: Int
  var title: String
  /// One sentence with the problem and advice.
  var detail: String
  /// The member of the body or of the query that is wrong; nil if the problem has another cause.
  var field: String?

  init(_ status: Int, _ title: String, _ detail: String, field: String? = nil) {
    self.status = status
    self.title = title
    self.detail = detail
    self.field = field
  }

  static func badRequest(_ detail: String) -> Problem { Problem(400, "Bad Request", detail) }
  static func methodNotAllowed(_ methods: [String]) -> Problem {
    Problem(405, "Method Not Allowed", "this takes \(methods.joined(separator: " and "))")
  }
  static func tooManyRequests(_ detail: String) -> Problem { Problem(429, "Too Many Requests", detail) }
  static func notFound(_ detail: String) -> Problem { Problem(404, "Not Found", detail) }
  /// The problem of a gateway without a certificate whose fingerprint a code or a token could contain.
  static func noFingerprint(for text: String) -> Problem {
    Problem(503, "Service Unavailable", "this gateway has no certificate whose fingerprint a \(text) could contain")
  }
  static let unauthorized = Problem(
    401, "Unauthorized",
    "missing or wrong device secret: send `authorization: bearer SECRET` with the secret from enrollment")

  static let failure = Problem(500, "Internal Server Error", "the request failed in the gateway; its log has the cause")

  /// Throws 400 for a number outside of its range; nil is accepted.
  static func check(
    _ number: Int?, _ range: ClosedRange<Int>, _ subject: String, of unit: String? = nil
  ) throws(Problem) {
    guard let number, !range.contains(number) else { return }
    let form = "\(range.lowerBound) to \(range.upperBound)" + (unit.map { " " + $0 } ?? "")
    throw badRequest("invalid \(subject): expected \(form)")
  }

  /// Creates the problem for an error that a user can resolve; nil for any other error.
  init?(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let refusal as RegistrationRefusal:
      switch refusal.kind {
      case .invalid: self = .badRequest(refusal.description)
      case .unknown: self = .notFound(refusal.description)
      case .conflict: self.init(409, "Conflict", refusal.description)
      case .forbidden, .wrongCode: self.init(403, "Forbidden", refusal.description)
      }
    case let error as StoreError: self.init(503, "Service Unavailable", error.description)
    default: return nil
    }
  }

  var response: Response {
    Response(status: status, contentType: "application/problem+json", body: controlJSON(self))
  }
}

extension ControlRequest {
  /// Decodes the body as a value.
  ///
  /// - Throws: 400 for a body that can't be decoded. For administrative requests, also for an unknown member: a
  ///   misspelled one would be ignored, and the audit trail would contain it although it had no effect.
  func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws(Problem) -> Value {
    do {
      let value = try decodeJSON(type, from: body)
      if path.hasPrefix("/admin/"), let encodable = value as? any Encodable {
        let known = try JSONSerialization.jsonObject(with: Data(controlJSON(encodable)), options: .fragmentsAllowed)
        let given = try JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed)
        if let name = ControlRequest.member(of: given, thatIsNotIn: known) {
          throw Problem.badRequest("unknown member \"\(name)\" in the body: omit it")
        }
      }
      return value
    } catch let problem as Problem {
      throw problem
    } catch let error as DecodingError {
      throw .badRequest("invalid request body: \(error.inWords)")
    } catch let error as JSONSyntaxError {
      throw .badRequest("the body is not JSON: \(error.message)")
    } catch {
      throw .badRequest("the body is not JSON")
    }
  }

  /// Returns the name of a member, at any depth, that the other document lacks; members with the value null are
  /// ignored.
  private static func member(of given: Any, thatIsNotIn known: Any) -> String? {
    switch (given, known) {
    case (let given as [String: Any], let known as [String: Any]):
      for (name, value) in given.sorted(by: { $0.key < $1.key }) where !(value is NSNull) {
        guard let other = known[name] else { return String(name.prefix(64)) }
        if let found = member(of: value, thatIsNotIn: other) { return found }
      }
    case (let given as [Any], let known as [Any]):
      for (value, other) in zip(given, known) {
        if let found = member(of: value, thatIsNotIn: other) { return found }
      }
    default: break
    }
    return nil
  }

  /// Decodes the body as preferences, in the exact form.
  func choices<Value: Decodable>(_ form: Preference.Scope) throws(Problem) -> Value {
    let formError: String?
    do {
      formError = try JSONParser().parse(body.span) { form.error(in: $0) }
    } catch {
      throw .badRequest("the body is not JSON: \(error.message)")
    }
    if let formError { throw .badRequest(formError) }
    return try decoded()
  }
}

extension Response {
  /// Creates a response with a value as JSON.
  init(_ value: some Encodable, status: Int = 200) {
    self.init(status: status, body: controlJSON(value))
  }
}

extension DecodingError {
  /// A short description of the error and its location.
  fileprivate var inWords: String {
    func path(_ context: Context) -> String { context.codingPath.map(\.stringValue).joined(separator: "/") }
    switch self {
    case .keyNotFound(let key, _): return "\"\(key.stringValue)\" is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return "\"\(path(context))\" has the wrong type"
    case .dataCorrupted(let context):
      return context.codingPath.isEmpty ? "invalid JSON" : "\"\(path(context))\" can't be read"
    @unknown default: return "invalid JSON"
    }
  }
}
