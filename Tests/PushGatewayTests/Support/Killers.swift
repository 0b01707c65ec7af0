import Foundation

/// Inputs that once ended a process, similar inputs, and numbers at the limits of types (Tests/Killers).
enum Killers {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Killers").standardized

  /// The numbers in JSON notation.
  static let numbers: [String] = {
    let text = try? String(contentsOf: folder.appending(path: "numbers.txt"), encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }()

  /// The documents, most of which are invalid JSON.
  static let documents: [[UInt8]] = {
    let files =
      (try? FileManager.default.contentsOfDirectory(at: folder.appending(path: "json"), includingPropertiesForKeys: nil))
      ?? []
    let stored = files.sorted { $0.path < $1.path }.compactMap { try? Array(Data(contentsOf: $0)) }
    return stored + nested
  }()

  /// Nested brackets around the depth limits of the parsers: ours (64), Foundation's (512), simdjson's (1024).
  private static let nested: [[UInt8]] = [64, 65, 512, 513, 1024, 1025].flatMap { depth in
    ["[", #"{"a":"#].flatMap { opening in
      ["", "[", " ", "\"", "1", "]", "}"].map { Array((String(repeating: opening, count: depth) + $0).utf8) }
    }
  }
}
