import Foundation
import Testing

@testable import PushPolicy

@Suite struct PresentationTests {
  /// The names are in the code twice: in the fast writer and in the coding.
  @Test func `a presentation is coded as it is written, under the names that are documented`() throws {
    let presentation = Presentation(
      badge: 3, sound: "chime",
      alert: AlertPresentation(title: "a", body: "b", buttons: ["OK"]),
      center: AlertPresentation(title: "c", body: "d", buttons: ["Close"]),
      held: Deferral(by: .summary, until: 7, relevance: 0))
    var written: [UInt8] = []
    presentation.appendJSON(to: &written)
    #expect(try JSONDecoder().decode(Presentation.self, from: Data(written)) == presentation)
    let coded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(presentation)) as? [String: Any]
    #expect(Set(coded?.keys.map(\.self) ?? []) == ["badge", "sound", "alert", "centre", "held"])
  }
}
