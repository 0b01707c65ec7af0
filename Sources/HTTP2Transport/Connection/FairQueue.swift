import DequeModule

/// A queue that serves its sources in turn: a source with many elements delays an element of another source by only
/// one of its own.
///
/// The elements of one source keep their order. A source uses memory only while it has elements.
struct FairQueue<Source: Hashable, Element> {
  private var elements: [Source: Deque<Element>] = [:]
  /// Every source with elements, once, in the order in which they are served.
  private var sources: Deque<Source> = []

  var isEmpty: Bool { sources.isEmpty }

  mutating func append(_ element: Element, from source: Source) {
    if elements[source] == nil { sources.append(source) }
    elements[source, default: []].append(element)
  }

  /// Removes and returns the next element; its source then moves behind all others.
  mutating func popFirst() -> Element? {
    guard let source = sources.popFirst() else { return nil }
    let element = elements[source]?.popFirst()
    if elements[source]?.isEmpty == false { sources.append(source) } else { elements[source] = nil }
    return element
  }
}
