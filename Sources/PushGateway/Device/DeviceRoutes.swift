extension DeviceAPI {
  /// All requests of devices.
  var router: Router {
    Router(
      routes + EndpointsAPI(api: self).routes + SubscriptionAPI(api: self).routes + AttachmentsAPI(api: self).routes)
  }
}
