/// A device's request for a Web Push endpoint.
package struct EndpointRequest: Codable, Sendable {
  package var name: String
  /// The topic of its app.
  package var app: String
  /// The scheme, host and port at which senders reach the gateway.
  package var origin: String
  /// The public key of the only sender that may post (VAPID), in base64url; nil: any sender.
  package var vapid: String?

  package init(name: String, app: String, origin: String, vapid: String?) {
    (self.name, self.app, self.origin, self.vapid) = (name, app, origin, vapid)
  }
}

/// A new endpoint. Its address is a secret of the device and its senders, which the gateway does not store.
package struct CreatedEndpoint: Codable, Sendable {
  package var name: String
  /// The id in the address.
  package var id: String
  /// The address to which senders post.
  package var url: String

  package init(name: String, id: String, url: String) { (self.name, self.id, self.url) = (name, id, url) }
}

/// An endpoint as lists show it.
package struct EndpointRecord: Codable, Sendable {
  package var name: String
  /// The topic of its app.
  package var app: String
  package var origin: String
  /// The public key of the only sender that may post; nil: any sender.
  package var vapid: String?
  /// The time of creation, RFC 3339, UTC.
  package var created: String

  package init(name: String, app: String, origin: String, vapid: String?, created: String) {
    (self.name, self.app, self.origin) = (name, app, origin)
    (self.vapid, self.created) = (vapid, created)
  }
}
