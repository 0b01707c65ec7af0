import PushCore
import PushPolicy

/// The session of a page: a cookie with a secret.
///
/// The device in a browser has its own secret in the cookie. Its session therefore ends when the user signs out, and after
/// `devices rotate` or `devices remove`. The sessions of the console are in ``ConsoleSessions``.
struct WebSession: Sendable {
  /// The part of the cookie's name that distinguishes gateways, because cookies ignore ports.
  let gateway: String
  /// The part of the cookie's name that distinguishes the pages of a gateway.
  private let page: String
  /// The lifetime of a cookie in seconds.
  private let validity: Int64

  /// - Parameter authority: the fingerprint of the gateway's CA; nil without a CA.
  init(authority: String?) { self.init(authority, "pushgateway-", WebSession.longestValidity) }

  private init(_ authority: String?, _ page: String, _ validity: Int64) {
    gateway = authority.map { String($0.prefix(8)).lowercased() } ?? "gateway"
    (self.page, self.validity) = (page, validity)
  }

  static func console(authority: String?) -> WebSession {
    WebSession(authority, "pushgateway-console-", Limits.consoleSessionTime)
  }

  /// Returns the name of the cookie. The prefix `__Host-` makes browsers refuse a cookie that another host has set.
  func name(_ fields: BrowserFields) -> String {
    (fields.isSecure ? "__Host-" : "") + page + gateway
  }

  /// Returns the secret in the session's cookie.
  func secret(_ fields: BrowserFields) -> String? {
    let name = name(fields)
    ReadingSteps.add(fields.cookie?.utf8.count ?? 0)
    for pair in (fields.cookie ?? "").split(separator: ";") {
      let sides = pair.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].drop(while: { $0 == " " }) == name else { continue }
      return String(sides[1])
    }
    return nil
  }

  /// Returns the fields of a response that changes the session.
  ///
  /// - Parameter secret: as in ``cookie(_:_:)``.
  func fields(_ secret: String?, _ browser: BrowserFields) -> [(name: StaticString, value: String)] {
    [("set-cookie", cookie(secret, browser)), ("cache-control", "no-store")] + WebSecurity.fields(browser)
  }

  /// Returns the value of `set-cookie`.
  ///
  /// - Parameter secret: the secret of the session; nil to end the session.
  func cookie(_ secret: String?, _ fields: BrowserFields) -> String {
    let age = secret == nil ? 0 : validity
    let secure = fields.isSecure ? "; Secure" : ""
    return "\(name(fields))=\(secret ?? ""); Path=/\(secure); HttpOnly; SameSite=Strict; Max-Age=\(age)"
  }

  /// The longest lifetime of a cookie that browsers accept, in seconds: 400 days.
  private static let longestValidity: Int64 = 400 * 86_400

  /// Checks that the page of this gateway sent a request: not a page of another site, of another port of this host, or
  /// of a name that was changed to this machine's address.
  ///
  /// - Throws: 403 with the reason.
  func check(_ method: String, _ fields: BrowserFields) throws(Problem) {
    guard fields.site == "same-origin" else {
      throw Problem(
        403, "Forbidden", "a session is for requests of the gateway's own page: expected sec-fetch-site: same-origin")
    }
    if method == "GET" || method == "HEAD" { return }
    let own = fields.host.map { "http://" + $0 } ?? fields.authority.map { "https://" + $0 }
    guard own != nil, fields.origin == own else {
      throw Problem(403, "Forbidden", "a change needs the origin of the gateway's own page: open the page again")
    }
  }
}

extension ControlRequest {
  /// Uses the device of the page's session, if the request has no other credential.
  ///
  /// - Throws: 403 if another page sent the request.
  mutating func adopt(_ session: WebSession) throws(Problem) {
    guard bearer == nil, let secret = session.secret(browser) else { return }
    try session.check(method, browser)
    bearer = secret
  }
}
