import DequeModule

/// A queue in which sources take turns: a source with many elements delays an element of another source by one of its own.
///
/// Elements of one source keep their order. A source takes memory only while it has elements.
struct FairLine<Source: Hashable, Element> {
  private var elements: [Source: Deque<Element>] = [:]
  /// Each source with elements, once, in the order of their turns.
  private var sources: Deque<Source> = []

  mutating func append(_ element: Element, from source: Source) {
    if elements[source] == nil { sources.append(source) }
    elements[source, default: []].append(element)
  }

  /// Removes the next element; its source then goes behind all others.
  mutating func popFirst() -> Element? {
    guard let source = sources.popFirst() else { return nil }
    let element = elements[source]?.popFirst()
    if elements[source]?.isEmpty == false { sources.append(source) } else { elements[source] = nil }
    return element
  }
}
