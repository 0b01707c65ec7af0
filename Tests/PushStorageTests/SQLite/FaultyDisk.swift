import CFaultyDisk
import Foundation
import GRDBSQLite
import PushTesting
import Synchronization

@testable import PushCore
@testable import PushStorage

/// A disk below the real SQLite: it keeps synced writes, and keeps unsynced ones at random from its seed.
///
/// `@unchecked Sendable`: all mutable state is behind the mutex.
@safe final class FaultyDisk: @unchecked Sendable {
  /// The bytes of a file that are durable, and the writes since the last sync, each of which may be lost or torn.
  private struct File {
    enum Change {
      case write([UInt8], offset: Int)
      case truncate(Int)
    }

    var durable: [UInt8] = []
    var pending: [Change] = []

    static func apply(_ change: Change, to bytes: inout [UInt8]) {
      switch change {
      case .truncate(let size):
        bytes = Array(bytes.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - bytes.count))
      case .write(let data, let offset):
        if bytes.count < offset + data.count {
          bytes += [UInt8](repeating: 0, count: offset + data.count - bytes.count)
        }
        bytes.replaceSubrange(offset..<offset + data.count, with: data)
      }
    }
  }

  private struct State {
    var files: [String: File] = [:]
    var random: SplitMix64
    /// The number of further operations that fail.
    var failures = 0
    var untilStop: Int
  }

  private let state: Mutex<State>
  private let stop: @Sendable ([String: [UInt8]]) -> Void
  private let everyOperations: Int

  /// Watches a folder. Its files begin with their current content.
  ///
  /// - Parameter stopped: Receives the files as they would be found after a power failure at that moment, after about
  ///   every `operations` operations. No other operation happens during the call.
  init(folder: String, seed: UInt64, operations: Int, stopped: @escaping @Sendable ([String: [UInt8]]) -> Void) throws {
    var random = SplitMix64(state: seed)
    var files: [String: File] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where !name.hasSuffix("-shm") {
      files[name] = File(durable: Array(FileManager.default.contents(atPath: folder + "/" + name) ?? Data()))
    }
    everyOperations = operations
    stop = stopped
    state = Mutex(State(files: files, random: random, untilStop: Int.random(in: 1...operations, using: &random)))
    guard faulty_install() == SQLITE_OK else { throw StoreError("the faulty disk can't be put under SQLite") }
    let hook: faulty_hook = { context, path, operation, data, size, offset in
      guard let context = unsafe context, let path = unsafe path else { return SQLITE_OK }
      let disk = unsafe Unmanaged<FaultyDisk>.fromOpaque(context).takeUnretainedValue()
      let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: data, count: Int(size)))
      let name = unsafe String(cString: path).split(separator: "/").last.map(String.init) ?? ""
      return disk.performed(operation, name, bytes, Int(offset))
    }
    unsafe faulty_watch(folder, hook, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Ends the watch. Open files continue without it.
  func release() { faulty_watch(nil, nil, nil) }

  /// Lets the next `count` operations fail: writes as on a full disk, syncs as on a broken one.
  func fail(_ count: Int) { state.withLock { $0.failures = count } }

  /// Returns the number of writes to a file since its last sync.
  func unsyncedWrites(of name: String) -> Int { state.withLock { $0.files[name]?.pending.count ?? 0 } }

  /// Returns the number of durable bytes of a file.
  func durableSize(of name: String) -> Int { state.withLock { $0.files[name]?.durable.count ?? 0 } }

  private func performed(_ operation: faulty_operation, _ name: String, _ data: [UInt8], _ offset: Int) -> Int32 {
    state.withLock { state in
      state.untilStop -= 1
      if state.untilStop == 0 {
        state.untilStop = Int.random(in: 1...everyOperations, using: &state.random)
        // The lock is held: no thread can sync, and so have a push accepted, between the image and the record of the
        // sender's state.
        stop(FaultyDisk.image(of: state.files, using: &state.random))
      }
      if state.failures > 0 {
        state.failures -= 1
        return operation == FAULTY_SYNC ? Int32(SQLITE_IOERR) : SQLITE_FULL
      }
      var file = state.files[name] ?? File()
      switch operation {
      case FAULTY_WRITE: file.pending.append(.write(data, offset: offset))
      case FAULTY_TRUNCATE: file.pending.append(.truncate(offset))
      default:
        for change in file.pending { File.apply(change, to: &file.durable) }
        file.pending = []
      }
      state.files[name] = file
      return SQLITE_OK
    }
  }

  /// Returns the files with each write since the last sync present, missing, or torn between two sectors.
  private static func image(of files: [String: File], using random: inout SplitMix64) -> [String: [UInt8]] {
    files.mapValues { file in
      var bytes = file.durable
      for change in file.pending {
        switch (Int.random(in: 0..<3, using: &random), change) {
        case (0, _): break
        case (1, .write(let data, let offset)):
          let sectors = Int.random(in: 0...data.count / 512, using: &random)
          File.apply(.write(Array(data.prefix(sectors * 512)), offset: offset), to: &bytes)
        default: File.apply(change, to: &bytes)
        }
      }
      return bytes
    }
  }
}
