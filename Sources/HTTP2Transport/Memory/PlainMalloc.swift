/// The switch that takes all memory from the C library, without reuse, so that a sanitizer can check its use
/// (`make sanitize`). In all other builds it is false at compile time.
package enum PlainMalloc {
  #if PLAIN_MALLOC
    @inline(__always) package static var isOn: Bool { true }
  #else
    @inline(__always) package static var isOn: Bool { false }
  #endif
}
