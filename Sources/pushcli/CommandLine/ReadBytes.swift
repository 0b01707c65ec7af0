import Glibc

/// Returns `count` bytes of an open file from an offset; nil if it has fewer or can't be read.
func readBytes(_ file: Int32, from start: Int, count: Int) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: count)
  var done = 0
  while done < count {
    let size = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe pread(file, buffer.baseAddress! + done, count - done, off_t(start + done))
    }
    if size < 0, errno == EINTR { continue }
    guard size > 0 else { return nil }
    done += size
  }
  return bytes
}
