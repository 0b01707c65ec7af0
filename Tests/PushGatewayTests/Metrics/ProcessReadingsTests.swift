import Foundation
import Testing

@testable import PushCore
@testable import PushGateway

/// The values of `/proc` for a process.
@Suite struct ProcessReadingsTests {
  @Test func `the fields are those of proc(5), whatever the program is called`() throws {
    let stat =
      "4711 (a (b) 1 2) S 1 4711 4711 0 -1 4194560 5 0 0 0 250 50 0 0 20 0 9 0 12000 104857600 2560 18446744073709551615 1 1"
    let readings = try #require(ProcessReadings(stat: stat, ticks: 100, pageSize: 4096, booted: 1_000_000))
    #expect(readings.processorSeconds == 3)
    #expect(readings.threads == 9)
    #expect(readings.started == 1_000_120)
    #expect(readings.virtualSize == 104_857_600)
    #expect(readings.residentSize == 2560 * 4096)
  }

  @Test(arguments: ["", "4711", "4711 (a", "4711 (a) S 1", ")"])
  func `a line that is none says nothing`(_ text: String) {
    #expect(ProcessReadings(stat: text, ticks: 100, pageSize: 4096, booted: 0) == nil)
  }

  @Test func `this process has threads, memory and descriptors, and began before now`() throws {
    let now = try #require(ProcessReadings.now)
    #expect(now.threads > 0 && now.residentSize > 1 << 20 && now.virtualSize >= now.residentSize)
    #expect(now.processorSeconds >= 0)
    #expect((Date().timeIntervalSince1970 - 86_400...Date().timeIntervalSince1970).contains(now.started))
    let open = try #require(ProcessReadings.descriptors)
    #expect(open >= 3)
    #expect(try #require(ProcessReadings.maximumDescriptors) >= open)
  }

  @Test func `a folder's disk has room, and one that is not there has none that could be told`() throws {
    let disk = try #require(DiskReadings(StateFolder("/")))
    #expect(disk.size > 0 && disk.free <= disk.size)
    #expect(DiskReadings(StateFolder("/nonexistent/folder")) == nil)
    #expect(DiskReadings.size(of: "/nonexistent/file") == 0)
  }
}
