extension Presentation {
  /// Returns the presentation of an encrypted push after its device has decrypted it.
  ///
  /// The gateway decided about the alert and the sound without the text: these parts are at most those of this
  /// presentation. Rules that need the text are applied here: a badge by the preferences of the user (N4, N5), and
  /// advertising without alert and sound (A9).
  ///
  /// - Parameters:
  ///   - notification: the decrypted message, without the parts that break a rule.
  ///   - preferences: those of the user; nil if the device has not received them, then no badge is presented.
  ///   - isAdvertisement: true if the app holds back advertising and the texts are advertising (``AdDetector``).
  package func decrypted(
    _ notification: PushNotification, topic: String, preferences: Preferences?, isAdvertisement: Bool
  ) -> Presentation {
    var shown = Presentation()
    if let badge = notification.badge, let preferences,
      Policy.allows(.badge, topic: topic, category: nil, preferences: preferences)
    {
      shown.badge = badge
    }
    if isAdvertisement, preferences?.apps[topic]?.advertising != true { return shown }
    if sound != nil { shown.sound = notification.sound?.name }
    guard let texts = notification.alert else { return shown }
    let alert = AlertPresentation(title: texts.title, subtitle: texts.subtitle, body: texts.body)
    if self.alert != nil { shown.alert = alert }
    if center != nil { (shown.center, shown.held, shown.budget) = (alert, held, budget) }
    return shown
  }
}
