import Foundation
import GatewayClient
import Glibc
import Testing

@testable import pushcli

/// Standard output as a file: an incomplete line after a crash is counted, completed or removed.
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

  private func numbered(_ pushes: [(Int, String)], at time: String = "t1") -> PushBatch {
    var batch = PushBatch()
    for (seq, id) in pushes {
      let line = #"{"type":"push","seq":\#(seq),"id":"\#(id)","topic":"t","received":"\#(time)","payload":{}}"#
      batch.append(Array(line.utf8)[...], seq: UInt64(seq))
    }
    return batch
  }

  @Test func `what was written is known under another number, once, and no other push is taken for it`() throws {
    let output = LineOutput(descriptor: -1)
    #expect(output.news(in: numbered([(57, "a"), (58, "b"), (0, "c")])).lines.count == 3)
    #expect(output.news(in: numbered([(59, "a")])).lines.count == 1)
    output.renumber()
    #expect(output.news(in: numbered([(1, "x"), (2, "a"), (3, "c")])).lines.map(\.seq) == [1, 3])
    #expect(output.news(in: numbered([(4, "b")], at: "t2")).lines.count == 1)
    let rest = output.news(in: numbered([(5, "b")]))
    #expect(rest.lines.isEmpty && rest.bytes.isEmpty)
    #expect(output.news(in: numbered([(6, "a"), (7, "b")])).lines.count == 2)
  }

  @Test func `a file tells what was written before this process began`() throws {
    let file = try OpenFile(String(decoding: numbered([(57, "a"), (58, "b")]).bytes, as: UTF8.self))
    defer { file.remove() }
    let output = LineOutput(descriptor: file.descriptor)
    output.recover(after: 58)
    output.renumber()
    #expect(output.news(in: numbered([(2, "b"), (3, "c")])).lines.map(\.seq) == [3])
  }

  @Test func `what is remembered has a bound`() {
    let output = LineOutput(descriptor: -1)
    let count = 2 * LineOutput.rememberedSize / numbered([(1, "a")]).bytes.count
    for seq in 1...count { _ = output.news(in: numbered([(seq, "id\(seq)")])) }
    output.renumber()
    #expect(output.news(in: numbered([(1, "id1")])).lines.count == 1)
    #expect(output.news(in: numbered([(2, "id\(count)")])).lines.isEmpty)
  }

  @Test func `a batch is cut to the pushes that are wanted`() {
    let all = batch([(1, "a"), (2, "b"), (3, "c")])
    #expect(all.prefix(0).bytes.isEmpty)
    #expect(String(decoding: all.prefix(2).bytes, as: UTF8.self) == line(1, "a") + "\n" + line(2, "b") + "\n")
    #expect(all.prefix(.max).lastSeq == 3)
  }
}
