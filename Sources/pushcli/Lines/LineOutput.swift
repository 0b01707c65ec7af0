import Foundation
import GatewayClient
import GatewayProtocol
import Glibc
import PushPolicy

/// Standard output for pushes as lines; each push is written once, as far as the output allows.
///
/// After a crash, the last lines of a regular file are compared with the pushes that arrive again. A pipe can't be read
/// back; for a pipe, the number of the last push is stored right after its bytes are written.
final class LineOutput {
  private let descriptor: Int32
  let isRegularFile: Bool
  private let isTerminal: Bool
  /// The pushes after the cursor that are already in the file.
  private var written: Set<Identity> = []
  private let parser = JSONParser(maximumDepth: JSONParser.maximumLineDepth)

  private struct Identity: Hashable {
    var seq: UInt64
    var id: String
  }

  /// The pushes written last, for a renumbering.
  private var recent: [PushBatch] = []
  private var recentSize = 0
  /// The pushes written before a renumbering that have not arrived again.
  private var renumbered: Set<String> = []

  /// The maximum size in bytes of the remembered pushes.
  static let rememberedSize = 1 << 20

  /// The number of bytes that are read at the end of a file: more than one write can have.
  static let lookBack = 2 * DeviceEvents.maximumSize + 1 << 20

  init(descriptor: Int32 = STDOUT_FILENO) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    var status = stat()
    isRegularFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Searches the end of the file for pushes after `cursor`, and removes an incomplete line that a crash has left.
  func recover(after cursor: UInt64) {
    guard let (bytes, start) = lastBytes() else { return }
    let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    repair(bytes[end...], at: start + end)
    // Lines of other devices can be between the lines of this device.
    for line in bytes[..<end].split(separator: UInt8(ascii: "\n")) {
      if let identity = identity(of: line), identity.seq > cursor { written.insert(identity) }
    }
  }

  /// Returns the end of the file and its offset; nil if the output is not a file that is appended to.
  private func lastBytes() -> (bytes: [UInt8], start: Int)? {
    var status = stat()
    guard isRegularFile, unsafe fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
    // Only output that is appended continues the existing content.
    guard fcntl(descriptor, F_GETFL) & O_APPEND != 0 || lseek(descriptor, 0, SEEK_CUR) == status.st_size else {
      return nil
    }
    let reader = unsafe open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
    guard reader >= 0 else { return nil }
    defer { close(reader) }
    let start = max(0, Int(status.st_size) - LineOutput.lookBack)
    return readBytes(reader, from: start, count: Int(status.st_size) - start).map { ($0, start) }
  }

  /// Removes an incomplete push after the last line end, or ends the last line.
  private func repair(_ rest: ArraySlice<UInt8>, at offset: Int) {
    guard !rest.isEmpty else { return }
    let opening = GatewayLine.pushOpening
    if identity(of: rest) == nil, rest.starts(with: opening) || opening.starts(with: rest) {
      if ftruncate(descriptor, off_t(offset)) == 0 { lseek(descriptor, off_t(offset), SEEK_SET) }
    } else {
      // A complete line without its end, or a line of another program.
      write(json: [UInt8(ascii: "\n")])
      if let identity = identity(of: rest) { written.insert(identity) }
    }
  }

  private func identity(of line: ArraySlice<UInt8>) -> Identity? {
    PushHeader(line: line, parser: parser).map { Identity(seq: $0.seq, id: $0.id) }
  }

  /// Returns the pushes of `batch` that the file does not contain yet.
  func missing(from batch: PushBatch) -> PushBatch {
    guard !written.isEmpty else { return batch }
    var rest = PushBatch()
    batch.forEachLine { seq, line in
      if let identity = identity(of: line), written.remove(identity) != nil { return }
      rest.append(line, seq: seq)
    }
    // Pushes arrive in the order in which they were written: remaining entries up to this number belong to another
    // device.
    if batch.lastSeq > 0 { written = written.filter { $0.seq > batch.lastSeq } }
    return rest
  }

  /// Prepares for renumbered pushes: pushes that were already written can arrive again under other numbers.
  func renumber() {
    for batch in recent { batch.forEachLine { _, line in remember(line) } }
    guard let (bytes, _) = lastBytes() else { return }
    for line in bytes.split(separator: UInt8(ascii: "\n")) { remember(line) }
  }

  private func remember(_ line: ArraySlice<UInt8>) {
    if let push = push(of: line) { renumbered.insert(push) }
  }

  /// Returns the identity of a push without its sequence number.
  private func push(of line: ArraySlice<UInt8>) -> String? {
    guard let header = PushHeader(line: line, parser: parser), header.seq > 0, !header.received.isEmpty else {
      return nil
    }
    return "\(header.id) \(header.received) \(header.topic)"
  }

  /// Returns the pushes of a batch that were not written under another number, and remembers them.
  func news(in batch: PushBatch) -> PushBatch {
    var news = batch
    if !renumbered.isEmpty {
      news = PushBatch()
      batch.forEachLine { seq, line in
        if let push = push(of: line), renumbered.remove(push) != nil { return }
        news.append(line, seq: seq)
      }
    }
    recent.append(news)
    recentSize += news.bytes.count
    while recentSize > LineOutput.rememberedSize, recent.count > 1 { recentSize -= recent.removeFirst().bytes.count }
    return news
  }

  /// Writes lines of JSON, each with its end, in one write if the system accepts it; characters are escaped only for a
  /// terminal.
  ///
  /// If the reader of the pipe has closed it, the command ends without a message, as any program in a pipe does.
  func write(json lines: [UInt8]) {
    Output.write(SanitizedText(json: lines, isForTerminal: isTerminal), to: descriptor)
  }

  /// Writes paragraphs, each with its end.
  func write(paragraphs: String) {
    if !paragraphs.isEmpty { Output.write(SanitizedText(lines: paragraphs), to: descriptor) }
  }

  /// Returns when the output to a file is on disk.
  func sync() throws {
    guard isRegularFile, fdatasync(descriptor) != 0, errno != EINVAL, errno != EROFS else { return }
    throw CommandFailure(.failed, "standard output can't be saved: free some space; nothing is lost, start again then")
  }
}
