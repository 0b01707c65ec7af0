import Foundation
import GatewayClient
import Glibc
import Testing

@testable import pushcli

/// Standard output as a file: what a crash leaves in it is counted, completed or taken away.
@Suite struct LineOutputTests {
  /// An open file with some contents.
  private struct OpenFile {
    let path = NSTemporaryDirectory() + "lines-\(UUID())"
    let descriptor: Int32

    init(_ text: String, flags: Int32 = O_APPEND) throws {
      try Data(text.utf8).write(to: URL(filePath: path))
      descriptor = unsafe open(path, O_WRONLY | flags)
      try #require(descriptor >= 0)
    }

    func remove() {
      close(descriptor)
      _ = unsafe unlink(path)
    }

    var text: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
  }

  private func line(_ seq: Int, _ id: String) -> String {
    #"{"type":"push","seq":\#(seq),"id":"\#(id)","topic":"t","payload":{"aps":{}}}"#
  }

  private func batch(_ pushes: [(Int, String)]) -> PushBatch {
    var batch = PushBatch()
    for (seq, id) in pushes { batch.append(Array(line(seq, id).utf8)[...], seq: UInt64(seq)) }
    return batch
  }

  private func missing(_ file: OpenFile, after cursor: UInt64, _ pushes: [(Int, String)]) -> [UInt64] {
    let output = LineOutput(descriptor: file.descriptor)
    output.recover(after: cursor)
    return output.missing(from: batch(pushes)).lines.map(\.seq)
  }

  @Test func `what stands in the file after the cursor is not written again`() throws {
    let file = try OpenFile([line(1, "a"), line(2, "b"), line(3, "c")].map { $0 + "\n" }.joined())
    defer { file.remove() }
    #expect(missing(file, after: 1, [(2, "b"), (3, "c"), (4, "d")]) == [4])
  }

  @Test func `lines of another device count for nothing, whatever their numbers`() throws {
    let file = try OpenFile(line(2, "theirs") + "\n" + line(2, "b") + "\n" + line(3, "theirs") + "\nno json\n")
    defer { file.remove() }
    #expect(missing(file, after: 1, [(2, "b"), (3, "c"), (4, "d")]) == [3, 4])
  }

  @Test func `a torn line of ours goes, at whatever place it was torn`() throws {
    let (whole, torn) = (line(1, "a") + "\n", line(2, "b"))
    for count in 1..<torn.utf8.count {
      let file = try OpenFile(whole + torn.prefix(count))
      defer { file.remove() }
      #expect(missing(file, after: 1, [(2, "b")]) == [2])
      #expect(file.text == whole)
    }
  }

  @Test func `a line that only lacks its end is completed, and counts`() throws {
    let file = try OpenFile(line(1, "a") + "\n" + line(2, "b"))
    defer { file.remove() }
    #expect(missing(file, after: 1, [(2, "b"), (3, "c")]) == [3])
    #expect(file.text == line(1, "a") + "\n" + line(2, "b") + "\n")
  }

  @Test func `what somebody else wrote stays`() throws {
    let file = try OpenFile("a note without an end")
    defer { file.remove() }
    #expect(missing(file, after: 0, [(1, "a")]) == [1])
    #expect(file.text == "a note without an end\n")
  }

  @Test func `a file that is overwritten from its beginning continues nothing`() throws {
    let file = try OpenFile(line(2, "b") + "\n{\"type\":\"pu", flags: 0)
    defer { file.remove() }
    #expect(missing(file, after: 1, [(2, "b")]) == [2])
    #expect(file.text.hasSuffix("pu"))
  }

  @Test func `a batch is cut to the pushes that are wanted`() {
    let all = batch([(1, "a"), (2, "b"), (3, "c")])
    #expect(all.prefix(0).bytes.isEmpty)
    #expect(String(decoding: all.prefix(2).bytes, as: UTF8.self) == line(1, "a") + "\n" + line(2, "b") + "\n")
    #expect(all.prefix(.max).lastSeq == 3)
  }
}
