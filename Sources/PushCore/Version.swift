import CVersion

/// The version of this program, as `pushcli --version` and the metric `pushgateway_build_info` tell it.
package enum Version {
  /// Such as `0.2.0`, or `0.2.0~git20261123.0123abc` between two releases, in the order that `dpkg` sorts by.
  package static let text = unsafe String(cString: pushgateway_version())
}
