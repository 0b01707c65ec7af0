import PushCore

/// The pushes that follow each push, by which the report judges the reaction of a sender. It takes linear time.
struct PushReactions: Sendable {
  /// The position of the next push to the same token; nil without one.
  private(set) var following: [Int?]
  /// The position of the next request that carries the same push: with its id, or with the same payload for the same token.
  private(set) var same: [Int?]

  private struct Identity: Hashable {
    var token: String?
    var id: APNSID
  }

  private struct Content: Hashable {
    var token: String?
    var topic: String?
    var size: Int
    var payload: JSONValue?
  }

  /// - Parameter pushes: the requests in the order of their arrival.
  init(_ pushes: [RecordedPush]) {
    following = Array(repeating: nil, count: pushes.count)
    same = following
    var (byToken, byIdentity, byContent): ([String: Int], [Identity: Int], [Content: Int]) = ([:], [:], [:])
    for (place, push) in pushes.enumerated().reversed() {
      let identity = Identity(token: push.token, id: push.id)
      let content = Content(token: push.token, topic: push.topic, size: push.size, payload: push.payload)
      following[place] = byToken[push.token ?? ""]
      same[place] = [byIdentity[identity], byContent[content]].compactMap(\.self).min()
      (byToken[push.token ?? ""], byIdentity[identity], byContent[content]) = (place, place, place)
    }
  }
}
