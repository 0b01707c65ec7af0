package import PushCore
package import PushPolicy

/// One change of state of a push in the ``DeliveryLog``.
package struct LogRow: Sendable {
  /// The time of the event in milliseconds since 1970.
  package var at: Int64
  package var event: DeliveryEvent
  package var id: APNSID
  /// The `apns-unique-id`, by which a sender may look the push up; only for accepted pushes.
  package var uniqueID: APNSID?
  package var device: DeviceID?
  package var app: AppID?
  /// Further details of the event.
  package var detail = DeliveryDetail.nothing

  package init(
    at: Int64, event: DeliveryEvent, id: APNSID, uniqueID: APNSID? = nil, device: DeviceID? = nil, app: AppID? = nil,
    detail: DeliveryDetail = .nothing
  ) {
    (self.at, self.event, self.id, self.uniqueID) = (at, event, id, uniqueID)
    (self.device, self.app, self.detail) = (device, app, detail)
  }
}
