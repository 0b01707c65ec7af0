/// Whether all memory is the C library's, taken and given back each time, so that a sanitizer sees what is done to it
/// (`make sanitize`). Everywhere else this is false when the compiler looks at it.
package enum PlainMalloc {
  #if PLAIN_MALLOC
    @inline(__always) package static var isOn: Bool { true }
  #else
    @inline(__always) package static var isOn: Bool { false }
  #endif
}
