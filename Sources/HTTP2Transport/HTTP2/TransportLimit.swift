/// A bound that a peer went beyond; its raw value is what logs and counters call it.
package enum TransportLimit: String, Sendable, CaseIterable {
  /// ``Limits/maximumHeaderListSize``
  case headerList = "header-list"
  /// ``Limits/maximumStrangerSize``, ``Limits/maximumIncompleteSize``
  case incompleteRequests = "incomplete-requests"
  /// ``Limits/maximumResets``
  case resets
  /// ``Limits/maximumRefusedStreams``
  case refusedStreams = "refused-streams"
  /// ``Limits/maximumWaitingFrames``
  case waitingFrames = "waiting-frames"
  /// ``Limits/unreadTime``
  case unreadTime = "unread-time"
  /// ``Limits/settingsTime``
  case settingsTime = "settings-time"
  /// ``Limits/requestTime``
  case requestTime = "request-time"
  /// ``Limits/firstRequestTime``
  case firstRequestTime = "first-request-time"
  /// ``Limits/maximumAddressStrangers``
  case addressConnections = "address-connections"
  /// ``Limits/strangerShare``
  case strangerConnections = "stranger-connections"
  /// ``Limits/reservedDescriptors``
  case descriptors
  /// ``Limits/maximumControlRequests``
  case controlRequests = "control-requests"
  /// ``Limits/maximumRunningRequests``
  case runningRequests = "running-requests"
}
