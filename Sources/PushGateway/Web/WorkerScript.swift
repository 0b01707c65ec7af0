/// The script of the worker of the device in a browser: its text with the modules that it imports, as one script, because
/// not every browser supports modules in workers.
///
/// Each module becomes a function with a scope of its own, which returns the exported names. An import assigns these
/// names. The files have two forms: an import is one line as `import { a, b } from "./NAME.js";`, and an export is a
/// declaration that begins with `export`.
struct WorkerScript {
  private(set) var text = ""
  private var known: Set<Substring> = []
  private let source: (Substring) -> String

  /// - Parameters:
  ///   - name: the name of the worker's file.
  ///   - source: returns the text of a file.
  init(_ name: Substring, source: @escaping (Substring) -> String) {
    self.source = source
    let worker = readWithModules(name)
    text += worker.body
  }

  /// Reads a file, and appends the modules that it imports, each once and before its first use.
  ///
  /// - Returns: the body of the file, and the names that it exports.
  private mutating func readWithModules(_ name: Substring) -> (body: String, exports: [Substring]) {
    var (body, exports) = ("", [Substring]())
    for line in source(name).split(separator: "\n", omittingEmptySubsequences: false) {
      if let (names, file) = WorkerScript.importing(line) {
        append(file)
        body += "const {\(names)} = \(WorkerScript.constant(file));\n"
      } else if line.hasPrefix("export ") {
        let declaration = line.dropFirst("export ".count)
        if let name = WorkerScript.declared(declaration) { exports.append(name) }
        body += "\(declaration)\n"
      } else {
        body += "\(line)\n"
      }
    }
    return (body, exports)
  }

  private mutating func append(_ name: Substring) {
    guard known.insert(name).inserted else { return }
    let (body, exports) = readWithModules(name)
    let names = exports.joined(separator: ", ")
    text += "const \(WorkerScript.constant(name)) = (() => {\n\(body)return { \(names) };\n})();\n"
  }

  /// Returns the names and the file of an import; nil for any other line.
  private static func importing(_ line: Substring) -> (names: Substring, file: Substring)? {
    guard line.hasPrefix("import {"), let end = line.firstIndex(of: "}"), let slash = line.lastIndex(of: "/"),
      let quote = line.lastIndex(of: "\""), end < slash, slash < quote
    else { return nil }
    return (line[..<end].dropFirst("import {".count), line[line.index(after: slash)..<quote])
  }

  /// Returns the name of a declaration.
  private static func declared(_ declaration: Substring) -> Substring? {
    declaration.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "$" }
      .first { !["async", "class", "const", "function"].contains($0) }
  }

  /// Returns the name of the constant with the exports of a file.
  private static func constant(_ file: Substring) -> String {
    String(file.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }
}
