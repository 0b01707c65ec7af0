import Foundation
import Synchronization

/// A folder in memory for the files of a target.
final class FuzzFolder: Sendable {
  let path: String

  init() throws {
    let home = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    path = home + "/pushgateway-fuzz-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
}

/// An executor that runs all tasks of the process in order, on the thread that calls it. An input takes the same path
/// each time, and its tasks end before the next input begins.
enum SerialTasks {
  private static let jobs = Mutex<[UnownedJob]>([])
  private static let arrived = DispatchSemaphore(value: 0)

  /// Adds jobs to the queue of ``SerialTasks``.
  private final class Executor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { SerialTasks.add(UnownedJob(job)) }
  }
  private static let executor = Executor()

  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// Redirects all tasks of the process to this executor, until the process ends. For a process with no other purpose.
  static let begin: Void = {
    guard let symbol = unsafe dlsym(dlopen(nil, 0), "swift_task_enqueueGlobal_hook") else {
      fatalError("this Swift has no hook for tasks")
    }
    unsafe symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in SerialTasks.add(job) }
  }()

  private static func add(_ job: UnownedJob) {
    jobs.withLock { $0.append(job) }
    arrived.signal()
  }

  /// Runs the jobs that are ready.
  ///
  /// - Returns: True if there was at least one job.
  @discardableResult
  static func run() -> Bool {
    var isAny = false
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      isAny = true
      unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
    }
    return isAny
  }

  /// Blocks until a job is ready, for example after the disk has answered.
  static func wait() {
    precondition(arrived.wait(timeout: .now() + 300) == .success, "an answer does not come")
  }

  /// Runs the jobs that are ready, until a function that another thread calls has returned.
  static func run(beside work: @escaping @Sendable () -> Void) {
    let isDone = Atomic(false)
    Thread.detachNewThread {
      work()
      isDone.store(true, ordering: .releasing)
      arrived.signal()
    }
    while !isDone.load(ordering: .acquiring) {
      if !run() { wait() }
    }
  }

  /// Runs a task until it ends.
  static func finish(_ body: @escaping @Sendable () async throws -> Void) throws {
    begin
    let result = Mutex<Result<Void, any Error>?>(nil)
    Task {
      do {
        try await body()
        result.withLock { $0 = .success(()) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    while result.withLock({ $0 == nil }) {
      if !run() { wait() }
    }
    try result.withLock { $0 }?.get()
  }
}
