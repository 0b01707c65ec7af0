/// The steps of parsers, which tests of debug builds count: for any input, a parser takes a number of steps in proportion
/// to the size of the input. Release builds count nothing.
///
/// A parser adds a step for each byte or element that it reads, again for each further pass over them.
package enum ReadingSteps {
  #if DEBUG
    /// The counter of one test. `@unchecked Sendable`: only the task that has set it counts.
    final class Counter: @unchecked Sendable {
      var count = 0
    }

    @TaskLocal static var counter: Counter?

    /// Returns the number of steps of some work, which runs on the calling task.
    package static func taken(_ work: () -> Void) -> Int {
      let made = Counter()
      $counter.withValue(made) { work() }
      return made.count
    }

    /// True while a test counts.
    static var isCounting: Bool { counter != nil }
  #endif

  @inline(__always)
  package static func add(_ count: Int = 1) {
    #if DEBUG
      if let counter { counter.count &+= count }
    #endif
  }
}
