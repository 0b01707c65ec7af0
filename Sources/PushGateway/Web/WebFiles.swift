import CWebPhone
import HTTP2Transport

/// The files of the page, which are part of the program's image: a request copies one of them.
enum WebFiles {
  private struct File {
    var index: Int
    var contentType: StaticString
    /// The validator (RFC 9110 §8.8.3), with its quotation marks.
    var tag: String
  }

  /// The worker keeps a copy of the page. Its text begins with the version of all files: a browser installs the worker
  /// again when a byte of it has changed, and then replaces the copy.
  private static let worker = "worker.js"

  /// The files by their names; only the names and the validators are computed, at the first request.
  private static let files: [String: File] = {
    var files: [String: File] = [:]
    for index in 0..<web_phone_count() {
      let name = unsafe String(cString: web_phone_name(index))
      let bytes = unsafe UnsafeBufferPointer(start: web_phone_bytes(index), count: web_phone_size(index))
      files[name] = File(index: index, contentType: WebFiles.contentType(of: name), tag: unsafe WebFiles.tag(of: bytes))
    }
    let version = WebFiles.tag(of: files.values.map(\.tag).sorted().joined().utf8)
    files[WebFiles.worker]?.tag = version
    return files
  }()

  /// The names of all files.
  static var names: [String] { files.keys.sorted() }

  /// Returns the response to a request for a file.
  ///
  /// - Parameter known: the validators that the client sends in `if-none-match`.
  /// - Returns: nil if there is no such file.
  static func response(_ name: String, known: String?) -> Response? {
    guard let file = files[name] else { return nil }
    var fields: [(name: StaticString, value: String)] = [("etag", file.tag), ("cache-control", "no-cache")]
    fields += WebSecurity.fields
    // The worker is in the folder below the page that it serves.
    if name == worker { fields.append(("service-worker-allowed", "/phone")) }
    if known?.contains(file.tag) == true { return Response(status: 304, fields: fields) }
    let body = unsafe UnsafeBufferPointer(start: web_phone_bytes(file.index), count: web_phone_size(file.index))
    let version = name == worker ? "const version = \(file.tag);\n" : ""
    return unsafe Response(
      status: 200, contentType: file.contentType, body: Array(version.utf8) + Array(body), fields: fields)
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
