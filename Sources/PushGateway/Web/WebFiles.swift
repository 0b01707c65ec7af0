import CWebPhone
import Foundation
import HTTP2Transport
import PushCore

/// The files of the pages, which are part of the program's image. They are read once, at the first request.
///
/// The name of a file has its page, as `phone/app.js`, and is the path of its URL.
enum WebFiles {
  private struct File {
    var body: [UInt8]
    /// The validator (RFC 9110 §8.8.3), with its quotation marks.
    var tag: String

    init(_ body: [UInt8]) {
      self.body = body
      tag = WebFiles.tag(of: body)
    }
  }

  /// The files as they are in the image, by their names.
  private static let embedded: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for index in 0..<web_phone_count() {
      let name = unsafe String(cString: web_phone_name(index))
      files[name] = unsafe Array(UnsafeBufferPointer(start: web_phone_bytes(index), count: web_phone_size(index)))
    }
    return files
  }()

  private static let pages = ["phone", "console"]

  /// Returns the style sheet of a page.
  private static func style(of page: String) -> [UInt8] { WebFiles.embedded[page + "/style.css"] ?? [] }

  /// The hashes by which the Content-Security-Policy permits the style sheets in the pages.
  static let styleHashes = WebFiles.pages.map { page in
    "sha256-" + Data(Digest.sha256(WebFiles.style(of: page))).base64EncodedString()
  }

  /// The files as they are sent.
  ///
  /// A page contains its style sheet, which saves a request before the first paint. The worker of the device in a browser
  /// keeps a copy of its page. The worker's text has its modules (``WorkerScript``), and begins with the version of all
  /// files of the page: a browser installs the worker again if its text has changed, and then replaces the copy.
  private static let files: [String: File] = {
    var files = WebFiles.embedded.mapValues { File($0) }
    for page in WebFiles.pages {
      let name = page + "/index.html"
      let text = String(decoding: WebFiles.embedded[name] ?? [], as: UTF8.self)
      let link = "<link rel=\"stylesheet\" href=\"/\(page)/style.css\">"
      let style = "<style>" + String(decoding: WebFiles.style(of: page), as: UTF8.self) + "</style>"
      files[name] = File(Array(text.replacing(link, with: style).utf8))
    }
    let phone = files.filter { $0.key.hasPrefix("phone/") }
    let version = WebFiles.tag(of: phone.values.map(\.tag).sorted().joined().utf8)
    let worker = WebFiles.worker
    let script = WorkerScript("worker.js") { String(decoding: WebFiles.embedded["phone/\($0)"] ?? [], as: UTF8.self) }
    files[worker] = File(Array("const version = \(version);\n\(script.text)".utf8))
    return files
  }()

  private static let worker = "phone/worker.js"

  static var names: [String] { files.keys.sorted() }

  /// Returns the response to a request for a file.
  ///
  /// - Throws: 404 for an unknown file.
  static func file(_ name: String, _ request: ControlRequest) throws(Problem) -> Response {
    guard let response = response(name, to: request.browser) else {
      throw .notFound("unknown file /\(String(name.prefix(64)))")
    }
    return response
  }

  /// Returns the response to a request for a file; nil for an unknown file.
  static func response(_ name: String, to browser: BrowserFields) -> Response? {
    guard let file = files[name] else { return nil }
    var fields: [(name: StaticString, value: String)] = [("etag", file.tag), ("cache-control", "no-cache")]
    fields += WebSecurity.fields(browser)
    // The worker is in the folder below the page that it serves.
    if name == worker { fields.append(("service-worker-allowed", "/phone")) }
    if browser.known?.contains(file.tag) == true { return Response(status: 304, fields: fields) }
    return Response(status: 200, contentType: contentType(of: name), body: file.body, fields: fields)
  }

  private static func contentType(of name: String) -> StaticString {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    case "webmanifest": "application/manifest+json"
    default: "application/octet-stream"
    }
  }

  /// Returns a validator of bytes: their FNV-1a hash, since only versions of one file are distinguished.
  private static func tag(of bytes: some Sequence<UInt8>) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return "\"\(String(hash, radix: 16))\""
  }
}
