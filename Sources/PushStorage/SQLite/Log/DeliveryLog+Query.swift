package import PushCore

extension DeliveryLog {
  /// The request of a reader.
  package struct Query: Sendable {
    package var id: APNSID?
    package var device: DeviceID?
    package var app: AppID?
    /// Only rows of these apps are returned; nil for all.
    package var apps: Set<AppID>?
    /// The events to return; nil for all.
    package var events: Set<DeliveryEvent>?
    /// The earliest time in milliseconds since 1970.
    package var since: Int64?
    /// Only rows after this number are returned, to follow the log.
    package var after: Int64?
    /// Only rows before this number are returned, to read backwards.
    package var before: Int64?
    /// Only rows whose text contains this are returned; case is ignored.
    package var text: String?
    /// Returns the access of the reader to the texts of a device; records contain no other text.
    package var textAccess: @Sendable (DeviceID) -> TextAccess = { _ in .none }
    package var limit = 1000
    /// The maximum number of bytes of the log to search, from the newest on.
    package var maximumReadSize = Int.max

    package init(
      id: APNSID? = nil, device: DeviceID? = nil, app: AppID? = nil, events: Set<DeliveryEvent>? = nil,
      since: Int64? = nil, after: Int64? = nil, before: Int64? = nil, limit: Int = 1000,
      maximumReadSize: Int = .max
    ) {
      (self.maximumReadSize, self.id, self.device, self.app, self.events) = (maximumReadSize, id, device, app, events)
      (self.since, self.after, self.before, self.limit) = (since, after, before, limit)
    }
  }

  /// A row in the form that readers get.
  package struct Record: Sendable {
    package var number: Int64
    package var row: Row
    /// The title and texts of the push, one per line, if they are kept and the reader may access them.
    package var text: String?

    package init(number: Int64, row: Row, text: String? = nil) {
      (self.number, self.row, self.text) = (number, row, text)
    }
  }
}
