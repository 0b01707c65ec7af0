import Glibc
import Testing

@testable import LoadTest

@Suite struct ProcessMeterTests {
  @Test func `the lines of the kernel are read, also with a strange name`() throws {
    let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 0 0 0 250 150 0 0 20 0 4 0 9 1 2"
    let use = try #require(ProcessUse(stat: stat, statm: "1000 25 3 1 0 9 0"))
    #expect(use.cpu == 400 / Double(sysconf(Int32(_SC_CLK_TCK))))
    #expect(use.resident == 25 * Int(sysconf(Int32(_SC_PAGESIZE))))
  }

  @Test func `a process that is not there has no figures`() { #expect(ProcessUse(pid: -1) == nil) }

  @Test func `this process uses memory`() throws {
    let use = try #require(ProcessUse(pid: getpid()))
    #expect(use.resident > 1 << 20)
  }
}
