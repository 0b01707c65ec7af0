import Glibc

/// The program of the fuzzer: `fuzz TARGET [options of libFuzzer]`. Only scripts/fuzz builds it.
@main struct Fuzz {
  // Not isolated: libFuzzer calls on one thread only.
  nonisolated(unsafe) private static var run: ([UInt8]) -> Void = { _ in }

  static func main() throws {
    let names = FuzzTarget.all.map(\.name).joined(separator: " ")
    guard CommandLine.arguments.count > 1,
      let target = FuzzTarget.all.first(where: { $0.name == CommandLine.arguments[1] })
    else {
      print(names)
      exit(CommandLine.arguments.count > 1 ? 2 : 0)
    }
    unsafe run = try target.prepare()
    var arguments = [CommandLine.arguments[0], "-max_len=\(target.maximumSize)"] + CommandLine.arguments.dropFirst(2)
    // libFuzzer uses the last value of an option, so the caller can set a smaller size.
    arguments.removeAll { $0.isEmpty }
    var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var count = CInt(arguments.count)
    let code = unsafe pointers.withUnsafeMutableBufferPointer { list in
      var base = list.baseAddress
      return unsafe runLibFuzzer(&count, &base) { bytes, size in
        unsafe Fuzz.run(Array(UnsafeBufferPointer(start: bytes, count: size)))
        return 0
      }
    }
    exit(code)
  }
}

/// The entry point of libFuzzer as a library.
@_silgen_name("LLVMFuzzerRunDriver")
private func runLibFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
