import PushTesting
import Testing

@testable import PushCore

@Suite struct PushTypeTests {
  @Test(arguments: PushType.allCases)
  func `a push type is read in any case`(_ type: PushType) {
    #expect(PushType(named: type.rawValue) == type)
    #expect(PushType(named: type.rawValue.uppercased()) == type)
  }

  @Test func `Apple's own spellings of a Live Activity are one type`() {
    for text in ["liveactivity", "LiveActivity", "Liveactivity"] {
      #expect(PushType(named: text) == .liveactivity)
    }
  }

  @Test(
    arguments: [
      ("com.example.news", "com.example.news", nil), ("com.example.news.voip", "com.example.news", .voip),
      ("com.example.news.complication", "com.example.news", .complication),
      ("com.example.news.location-query", "com.example.news", .location),
      ("com.example.news.pushkit.fileprovider", "com.example.news", .fileprovider),
      ("com.example.news.push-type.liveactivity", "com.example.news", .liveactivity),
      ("com.example.news.voip-ptt", "com.example.news", .pushtotalk),
      ("com.example.news.push-type.widgets", "com.example.news", .widgets),
      ("com.example.news.push-type.controls", "com.example.news", .controls),
      ("com.example.news.pushtotalk", "com.example.news.pushtotalk", nil), ("voip", "voip", nil),
    ] as [(String, String, PushType?)])
  func `a topic is a bundle id and a suffix`(_ topic: String, _ bundleID: String, _ type: PushType?) {
    let split = PushType.split(topic: topic)
    #expect(split.bundleID == bundleID)
    #expect(split.type == type)
  }

  @Test(arguments: PushType.allCases)
  func `VoIP takes 5120 bytes, all else 4096`(_ type: PushType) {
    #expect(type.maximumPayloadSize == (type == .voip ? 5120 : 4096))
  }
}
