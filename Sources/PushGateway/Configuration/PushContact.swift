extension SettingType<String> {
  /// An address of the operator, as RFC 8292 §2.1 describes it.
  static var contact: Self {
    SettingType(
      expected: "mailto:ADDRESS or https://HOST",
      read: { text in
        let isContact = ["mailto:", "https://"].contains { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }
        let isText = text.utf8.count <= 255 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isContact && isText ? text : nil
      }, text: { $0 })
  }
}
