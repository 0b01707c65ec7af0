#if DEBUG
  import PushPolicy

  /// A parser with inputs that cause its longest work, whose steps are counted instead of its time.
  package struct CountedParser: Sendable, CustomStringConvertible {
    package let description: String
    private let head: String
    private let piece: String
    private let tail: String
    private let read: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - name: the name of the parser and of its input.
    ///   - head: the beginning of the input; copies of `piece` follow, and `tail`.
    ///   - read: reads an input, and drops the result.
    package init(
      _ name: String, _ head: String = "", repeating piece: String, _ tail: String = "",
      by read: @escaping @Sendable ([UInt8]) -> Void
    ) {
      (description, self.head, self.piece, self.tail, self.read) = (name, head, piece, tail, read)
    }

    /// Returns an input of about a size in bytes.
    private func input(_ size: Int) -> [UInt8] {
      Array((head + String(repeating: piece, count: size / piece.utf8.count + 1) + tail).utf8)
    }

    /// Returns the steps for each byte of inputs of 1, 2, 4, 8 and 16 KB: the same numbers, if the steps are in
    /// proportion to the size of the input.
    package var stepsPerByte: [Double] {
      [1, 2, 4, 8, 16].map { size in
        let input = input(size << 10)
        return Double(ReadingSteps.taken { read(input) }) / Double(input.count)
      }
    }
  }
#endif
