import GatewayProtocol
import PushPolicy
import TerminalUI

extension PhoneState.Entry {
  /// The headline and the detail of the push, including an answer from another user or device.
  var summary: (headline: String, detail: String) {
    let (headline, detail) = push.summary
    return (headline, [answerWords ?? "", detail].filter { !$0.isEmpty }.joined(separator: " — "))
  }

  /// The answer and its author, such as `Answered “Approve” by ann`; nil if there is no answer.
  var answerWords: String? {
    guard let answer else { return nil }
    func cut(_ text: String) -> String { TextLayout.truncated(Sanitizer.line(text), columns: 40) }
    let by = answer.person.map { " by \(cut($0))" } ?? answer.device.map { " on \(cut($0))" } ?? ""
    let title = push.presentation.listed?.actions?.first { $0.id == answer.action }?.title
    return "Answered “\(cut(title ?? answer.action))”" + by
  }
}
