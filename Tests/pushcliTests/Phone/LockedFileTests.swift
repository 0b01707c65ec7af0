import Foundation
import GatewayClient
import Glibc
import PushCore
import TerminalUI
import Testing

@testable import pushcli

/// A file that another process has locked. In the tests another open file of this process has the lock.
@Suite(.timeLimit(.minutes(5))) struct LockedFileTests {
  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "lock-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private var path: String { folder + "/studio.phone" }

  private func open() throws -> LockedFile { LockedFile(try #require(JournalFile.opened(path))) }

  @Test func `callers wait together for a lock, and have it when it is free`() async throws {
    let (own, other) = (try open(), try open())
    #expect(other.lock() && !own.lock())
    async let first = own.wait(atMost: .seconds(600))
    async let second = own.wait(atMost: .seconds(600))
    other.unlock()
    let both = await (first, second)
    #expect(both.0 && both.1)
    #expect(own.lock() && !other.lock())
    own.unlock()
    #expect(other.lock())
  }

  @Test func `a caller at its limit leaves the wait to the next caller`() async throws {
    let (own, other) = (try open(), try open())
    #expect(other.lock())
    #expect(await own.wait(atMost: .zero) == false)
    // The thread still waits: no other caller locks this file.
    #expect(!own.lock())
    async let next = own.wait(atMost: .seconds(600))
    other.unlock()
    #expect(await next)
    #expect(own.lock())
  }

  @Test func `a lock that comes after all limits is given up`() async throws {
    let (own, other, third) = (try open(), try open(), try open())
    #expect(other.lock())
    #expect(await own.wait(atMost: .zero) == false)
    other.unlock()
    #expect(await third.wait(atMost: .seconds(600)))
    #expect(third.lock())
  }

  @Test func `a task that is canceled waits for the lock all the same`() async throws {
    let (own, other) = (try open(), try open())
    #expect(other.lock())
    let wait = Task { await own.wait(atMost: .seconds(600)) }
    wait.cancel()
    other.unlock()
    #expect(await wait.value)
  }

  @Test func `a history that another screen writes is in use, and can be changed after that`() async throws {
    let journal = try PhoneJournal(folder: folder, device: "studio")
    _ = try journal.load()
    let other = try open()
    #expect(other.lock())
    let use = #expect(throws: JournalInUse.self) { try journal.append([.gap(dropped: 4)]) }
    #expect(journal.state.droppedCount == 0)
    other.unlock()
    try await use?.waitForEnd()
    try journal.append([.gap(dropped: 4)])
    #expect(journal.state.droppedCount == 4 && other.lock())
  }

  @Test func `a history that stays in use is a failure with its file`() async throws {
    let journal = try PhoneJournal(folder: folder, device: "studio", timeLimit: .zero)
    let other = try open()
    #expect(other.lock())
    let use = #expect(throws: JournalInUse.self) { try journal.append([.gap(dropped: 4)]) }
    let failure = await #expect(throws: CommandFailure.self) { try await use?.waitForEnd() }
    #expect(failure?.message == "another screen has locked \(path): continue it if it is stopped, or end it")
  }

  @Test func `a screen ends although another screen keeps the lock, and leaves the history unchanged`() async throws {
    let state = StateFolder(folder)
    try FileManager.default.createDirectory(atPath: state.devicesPath, withIntermediateDirectories: true)
    let credentials = try JSONDecoder().decode(
      Credentials.self, from: Data(#"{"device":"d","name":"studio","secret":"s"}"#.utf8))
    let gateways = DeviceGateways(addresses: { [] }, endpoint: { _ in throw CommandFailure(.failed, "no gateway") })
    let session = try DeviceSession(credentials, folder: state, gateways: gateways)
    let environment = PhoneEnvironment(
      terminal: Terminal(input: -1, output: -1), commands: ExecCommands(everything: nil, pairs: []), sounds: folder)
    let journal = try PhoneJournal(folder: folder, device: "studio", timeLimit: .zero)
    _ = try journal.load()
    let bytes = FileManager.default.contents(atPath: path)
    let other = try open()
    #expect(other.lock())
    let runner = PhoneEffectRunner(journal, session, environment, nil, Inbox())
    await runner.perform([.save(.gap(dropped: 4)), .quit])
    #expect(FileManager.default.contents(atPath: path) == bytes)
    other.unlock()
  }

  @Test(arguments: zip([1, 2, 3, 6, 7, 8, Int.max], [1, 2, 4, 32, 60, 60, 60]))
  func `a save that fails is tried again at growing intervals`(_ failures: Int, _ seconds: Int) {
    #expect(PhoneEffectRunner.pause(after: failures) == .seconds(seconds))
  }
}
