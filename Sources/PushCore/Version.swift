import CVersion

/// The version of this program, in `pushcli --version` and in the metric `pushgateway_build_info`.
package enum Version {
  /// For example `0.2.0`, or `0.2.0~git20261123.0123abc` between two releases, in the order of `dpkg`.
  package static let text = unsafe String(cString: pushgateway_version())
}
