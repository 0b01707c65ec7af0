import HTTP2Transport
import PushCore

/// The options of a test gateway: `pushcli serve --test`.
package struct TestOptions: Sendable {
  /// True to check keys, apps, devices and certificates as in production.
  package var isStrict = false
  /// The maximum number of recorded pushes.
  package var keep = Limits.recordedPushes
  /// The file for recorded pushes; nil for none.
  package var recording: String?
  /// True to allow listeners other than loopback, and clients that use other host names.
  package var allowsOtherHosts = false
  /// Reports and disturbs the streams of devices; nil for none.
  package var deviceTap: DeviceTap?

  package init() {}

  /// - Throws: ``ConfigurationError`` if a test gateway does not allow a setting.
  package func check(_ configuration: Configuration) throws(ConfigurationError) {
    guard configuration.backend == nil else {
      throw ConfigurationError(description: "a test gateway has no backend: omit it")
    }
    guard allowsOtherHosts || configuration.listensOnLoopbackOnly && configuration.servesHTTPOnLoopbackOnly else {
      throw ConfigurationError(
        description:
          "a test gateway accepts every sender, so it listens on loopback only: --test-listen allows other addresses")
    }
  }
}

extension Configuration {
  /// True if only programs on this machine reach the HTTP/1.1 server.
  fileprivate var servesHTTPOnLoopbackOnly: Bool {
    guard case .addresses(let entries) = httpListen else { return true }
    return entries.allSatisfy { entry in
      guard case .tcp(let host, _)? = (try? HTTPListen.Entry(entry))?.address else { return false }
      return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }
}
