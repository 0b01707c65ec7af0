import COpenSSL
import Glibc
import HTTP2Transport
import PushCore
import Testing

@Suite struct TLSLibraryTests {
  /// What OpenSSL does at its own end is told to those who ask with `OPENSSL_atexit`, so the first process ends otherwise.
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
