/// The fields that restrict the page in a browser: no resource of another origin, no script in the HTML, no frame around
/// it.
enum WebSecurity {
  static let fields: [(name: StaticString, value: String)] = [
    ("content-security-policy", policy), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"), ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
  ]

  /// The Content-Security-Policy. It permits the style sheet in the page by its hash. The Trusted Types policy `phone`
  /// creates a single URL, the URL of the page's worker.
  static let policy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self' '\(WebFiles.styleHash)'", "img-src 'self' data:",
    "connect-src 'self'", "manifest-src 'self'", "worker-src 'self'", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types phone",
  ].joined(separator: "; ")
}
