/// The order in which completions are called. Used on one queue.
final class OrderedCompletions: @unchecked Sendable {
  final class Ticket: @unchecked Sendable {
    fileprivate var call: (@Sendable () -> Void)?
  }

  private var line: [Ticket] = []
  private var first = 0

  func take() -> Ticket {
    let ticket = Ticket()
    line.append(ticket)
    return ticket
  }

  /// Calls it as soon as all that were taken before have been.
  func done(_ ticket: Ticket, _ call: @escaping @Sendable () -> Void) {
    ticket.call = call
    while first < line.count, let call = line[first].call {
      // What is called may have the ticket itself: both would stay for ever.
      line[first].call = nil
      first += 1
      call()
    }
    if first > 1024 || first == line.count {
      line.removeFirst(first)
      first = 0
    }
  }
}
