/// The fields that restrict a page in a browser: no resource of another origin, no script in the HTML, no frame around
/// it. Mozilla's HTTP Observatory expects these fields.
enum WebSecurity {
  /// Returns the fields of a response to a browser.
  ///
  /// Responses to a name of this machine itself have no `strict-transport-security`, because browsers apply it to all ports
  /// of a name: they would refuse the page over HTTP, and other programs on this machine.
  static func fields(_ browser: BrowserFields) -> [(name: StaticString, value: String)] {
    guard let authority = browser.authority, !BrowserFields.isLoopbackName(authority) else { return constant }
    return constant + [("strict-transport-security", "max-age=\(transportValidity)")]
  }

  /// The time in seconds for which a browser that has opened the page over HTTPS uses no HTTP for its name: a year.
  private static let transportValidity = 365 * 86_400

  private static let constant: [(name: StaticString, value: String)] = [
    ("content-security-policy", policy), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"), ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", unusedFeatures.map { "\($0)=()" }.joined(separator: ", ")),
  ]

  /// The features of browsers that the pages do not use. Chromium warns about names that it does not support.
  private static let unusedFeatures = [
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid", "magnetometer", "microphone",
    "midi", "payment", "serial", "usb",
  ]

  private static let styles = WebFiles.styleHashes.map { "'" + $0 + "'" }.joined(separator: " ")

  /// The Content-Security-Policy. It permits the style sheets in the pages by their hashes. The Trusted Types policy `phone`
  /// creates a single URL, the URL of the page's worker.
  private static let policy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self' \(styles)", "img-src 'self'",
    "connect-src 'self'", "manifest-src 'self'", "worker-src 'self'", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types phone",
  ].joined(separator: "; ")
}
