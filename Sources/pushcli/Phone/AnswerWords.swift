import GatewayProtocol
import PushPolicy
import TerminalUI

extension PhoneState.Entry {
  /// The headline and detail of its push, with the answer that another person or device has given.
  var summary: (headline: String, detail: String) {
    let (headline, detail) = push.summary
    return (headline, [answerWords ?? "", detail].filter { !$0.isEmpty }.joined(separator: " — "))
  }

  /// The answer and who gave it, such as `Answered “Approve” by ann`; nil where there is none.
  var answerWords: String? {
    guard let answer else { return nil }
    func cut(_ text: String) -> String { TextLayout.truncated(Sanitizer.line(text), columns: 40) }
    let by = answer.person.map { " by \(cut($0))" } ?? answer.device.map { " on \(cut($0))" } ?? ""
    let title = push.presentation.listed?.actions?.first { $0.id == answer.action }?.title
    return "Answered “\(cut(title ?? answer.action))”" + by
  }
}
