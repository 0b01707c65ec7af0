import PushPolicy

// Direct writers: a million records take seconds, but half a minute with Foundation's encoder. The keys are in the same
// order, that of their bytes.

extension DeviceRecord {
  /// Appends this as one JSON object.
  package func appendJSON(to bytes: inout [UInt8]) {
    bytes += #"{"apps":"#.utf8
    appendJSONStrings(apps, to: &bytes)
    bytes += #","device":"#.utf8
    appendJSONString(device, to: &bytes)
    func member(_ name: StaticString, _ value: String?) {
      guard let value else { return }
      append(name, to: &bytes)
      appendJSONString(value, to: &bytes)
    }
    member(#","focus":"#, focus)
    member(#","last_seen":"#, lastSeen)
    member(#","name":"#, name)
    member(#","person":"#, person)
    if let registrations { DeviceRecord.appendList(registrations, to: &bytes) }
    member(#","role":"#, role)
    if let silent { bytes += (silent ? #","silent":true"# : #","silent":false"#).utf8 }
    bytes += #","streams":"#.utf8
    bytes += String(streams).utf8
    bytes += #","waiting":"#.utf8
    bytes += String(waiting).utf8
    bytes += "}".utf8
  }

  private static func appendList(_ registrations: [Registrations], to bytes: inout [UInt8]) {
    bytes += #","registrations":["#.utf8
    for (place, one) in registrations.enumerated() {
      if place > 0 { bytes += ",".utf8 }
      bytes += #"{"environments":"#.utf8
      appendJSONStrings(one.environments, to: &bytes)
      bytes += #","topic":"#.utf8
      appendJSONString(one.topic, to: &bytes)
      bytes += "}".utf8
    }
    bytes += "]".utf8
  }
}

extension PersonRecord {
  /// Appends this as one JSON object.
  package func appendJSON(to bytes: inout [UInt8]) {
    bytes += #"{"devices":"#.utf8
    appendJSONStrings(devices, to: &bytes)
    bytes += #","name":"#.utf8
    appendJSONString(name, to: &bytes)
    bytes += "}".utf8
  }
}
