import HTTP2Transport
import NIOHTTP1

/// The fields by which a browser describes a request and the page that sent it.
struct BrowserFields: Sendable, Equatable {
  /// The cookies, `NAME=VALUE` separated by `; `.
  var cookie: String?
  /// The origin of the page; browsers send it with every change.
  var origin: String?
  /// The relation between the page and this gateway: `same-origin`, `same-site`, `cross-site` or `none`.
  var site: String?
  /// The host and the port of the request over HTTP/1.1; nil over HTTP/2, which browsers use only over TLS.
  var host: String?
  /// The host and the port of the request over HTTP/2.
  var authority: String?
  /// The validators of the files that the browser has.
  var known: String?
  /// The last event that the browser has of a stream.
  var lastEvent: String?

  /// True if the connection uses TLS.
  var isSecure: Bool { host == nil }

  init() {}

  init(_ message: Message) {
    (cookie, origin) = (message.text(.cookie), message.text(.origin))
    (site, known) = (message.text(.fetchSite), message.text(.ifNoneMatch))
    authority = message.text(.authority)
  }

  init(_ headers: HTTPHeaders) {
    let cookies = headers["cookie"]
    cookie = cookies.isEmpty ? nil : cookies.joined(separator: "; ")
    (origin, site) = (headers.first(name: "origin"), headers.first(name: "sec-fetch-site"))
    (host, known) = (headers.first(name: "host") ?? "", headers.first(name: "if-none-match"))
    lastEvent = headers.first(name: "last-event-id")
  }

  /// Returns true if a Host field names this machine, independent of name servers: `localhost`, names below it, or a
  /// loopback address, each with or without a port.
  static func isLoopbackName(_ host: String) -> Bool {
    let host = host.lowercased()
    if host.hasPrefix("[") { return host == "[::1]" || host.hasPrefix("[::1]:") }
    let name = host.prefix { $0 != ":" }
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
