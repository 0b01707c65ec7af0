extension Decision {
  /// Describes the first broken invariant; nil if there is none: each requested part is either presented or removed,
  /// exactly once.
  package func brokenInvariant(asked: [Part]) -> String? {
    for part in Part.allCases {
      let isPresented =
        switch part {
        case .badge: presentation.badge != nil
        case .sound: presentation.sound != nil
        case .alert: presentation.alert != nil
        }
      let count = (isPresented ? 1 : 0) + removed.count { $0.part == part }
      if count > 1 { return "\(part.rawValue) counts \(count) times" }
      if count == 0, asked.contains(part) { return "\(part.rawValue) was requested and has no outcome" }
    }
    if presentation.alert != nil, presentation.center != nil { return "an alert is shown twice" }
    return presentation.held != nil && presentation.center == nil ? "a deferred alert is missing in the center" : nil
  }
}
