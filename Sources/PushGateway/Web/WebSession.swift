import PushPolicy

/// The session of a page: a cookie with the secret of the browser's device.
///
/// The gateway stores no sessions. A session therefore ends with the secret: when the user signs out, and after
/// `devices rotate` or `devices remove`.
struct WebSession: Sendable {
  /// The part of the cookie's name that distinguishes gateways, because cookies ignore ports.
  let gateway: String

  /// - Parameter authority: the fingerprint of the gateway's CA; nil without a CA.
  init(authority: String?) { gateway = authority.map { String($0.prefix(8)).lowercased() } ?? "gateway" }

  /// Returns the name of the cookie. The prefix `__Host-` makes browsers refuse a cookie that another host has set.
  func name(_ fields: BrowserFields) -> String {
    (fields.isSecure ? "__Host-" : "") + "pushgateway-" + gateway
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

  /// Returns the value of `set-cookie` for a device.
  ///
  /// - Parameter secret: the secret of the device; nil to end the session.
  func cookie(_ secret: String?, _ fields: BrowserFields) -> String {
    let age = secret == nil ? 0 : WebSession.validity
    let secure = fields.isSecure ? "; Secure" : ""
    return "\(name(fields))=\(secret ?? ""); Path=/\(secure); HttpOnly; SameSite=Strict; Max-Age=\(age)"
  }

  /// The lifetime of a cookie in seconds: 400 days, the longest that browsers accept.
  private static let validity = 400 * 86_400

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
      throw Problem(403, "Forbidden", "a change needs the origin of the gateway's own page: open /phone again")
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
