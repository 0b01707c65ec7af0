import COpenSSL
import Glibc
import HTTP2Transport
import PushCore
import Testing

@Suite struct TLSLibraryTests {
  /// OpenSSL calls the functions of `OPENSSL_atexit` during its own cleanup, so the first process, which does that
  /// cleanup, exits with code 3.
  @Test func `OpenSSL stays whole while a process ends`() async {
    await #expect(processExitsWith: .exitCode(3)) {
      OPENSSL_atexit { _exit(3) }
      _ = try ES256Key.generate()
      exit(EXIT_SUCCESS)
    }
    await #expect(processExitsWith: .success) {
      TLSLibrary.begin()
      OPENSSL_atexit { _exit(3) }
      _ = try ES256Key.generate()
      exit(EXIT_SUCCESS)
    }
  }
}
