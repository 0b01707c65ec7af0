import Foundation
import PushCore
import Yams

/// A file of settings as it is written: names with their values, and where each stands.
struct ConfigurationFile {
  struct Entry {
    var value: String
    /// Counted from 1.
    var line: Int
  }

  let path: String
  let entries: [String: Entry]

  /// Reads a file of settings.
  ///
  /// - Parameter isRequired: whether it has to be there; otherwise none is an empty one.
  /// - Throws: ``ConfigurationError`` when it can't be read, is not YAML, or holds what is no setting.
  init(_ path: String, isRequired: Bool) throws(ConfigurationError) {
    self.path = path
    guard let data = FileManager.default.contents(atPath: path) else {
      if isRequired || FileManager.default.fileExists(atPath: path) {
        throw ConfigurationError(description: "\(path) can't be read: check the name and its permissions")
      }
      entries = [:]
      return
    }
    entries = try ConfigurationFile.entries(of: String(decoding: data, as: UTF8.self), path)
    for (name, entry) in entries.sorted(by: { $0.value.line < $1.value.line }) {
      if let unknown = Configuration.unknown(name) {
        throw ConfigurationError(description: "unknown setting \(name) (\(path), line \(entry.line)): \(unknown)")
      }
    }
  }

  private static func entries(of text: String, _ path: String) throws(ConfigurationError) -> [String: Entry] {
    let root: Node?
    do {
      // The values as they are written: what Yams makes of some ends the process, as of a list for a name.
      root = try Yams.compose(yaml: text)
    } catch YamlError.duplicatedKeysInMapping(let names, _) {
      let name = names.first ?? ""
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }
      let place = lines.lastIndex { $0.hasPrefix(name) }.map { ", line \($0 + 1)" } ?? ""
      throw ConfigurationError(description: "\(name) is given twice (\(path)\(place)): expected each setting once")
    } catch {
      throw ConfigurationError(
        description: "\(path) is not YAML: \(String(describing: error).split(separator: "\n").first ?? "")")
    }
    guard let root else { return [:] }
    let shape = ConfigurationError(description: "\(path) should hold settings, one `name: value` a line")
    guard let settings = root.mapping else { throw shape }
    var entries: [String: Entry] = [:]
    for (key, value) in settings {
      guard let name = key.scalar?.string else { throw shape }
      let line = key.mark?.line ?? 1
      let words = value.sequence.map { list in list.map(\.scalar?.string) } ?? [value.scalar?.string]
      guard !words.contains(nil) else {
        throw ConfigurationError(
          description:
            "\(name) (\(path), line \(line)) is neither a value nor a list: expected one value, or a list of values"
        )
      }
      entries[name] = Entry(value: words.compactMap(\.self).joined(separator: ","), line: line)
    }
    return entries
  }
}

extension Configuration {
  /// What to say of a name that no setting has; nil of one that a setting has.
  static func unknown(_ name: String) -> String? {
    let names = settings.map(\.name)
    if names.contains(name) { return nil }
    if let near = Spelling.nearest(to: name.replacing("-", with: "_"), among: names) { return "did you mean \(near)?" }
    return "expected one of \(names.joined(separator: ", "))"
  }

  /// What to say of variables that begin as those of settings do, and set nothing: a line each, without their values.
  static func warnings(about variables: [String: String]) -> [String] {
    let known = settings.map(\.variable) + ["PUSHGATEWAY_STATE"]
    let unknown = variables.keys.filter { $0.hasPrefix("PUSHGATEWAY_") && !known.contains($0) }.sorted()
    return unknown.prefix(maximumWarnings).map { name in
      let near = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
      return "unknown variable \(name): \(near ?? "no setting has it, unset it")"
    }
  }

  private static let maximumWarnings = 20
}
