import Foundation
import PushCore
import PushPolicy
import Yams

/// A parsed file of settings: names with their values and line numbers.
struct ConfigurationFile {
  struct Entry {
    var value: String
    /// The line number, counted from 1.
    var line: Int
  }

  let path: String
  let entries: [String: Entry]
  /// True if the file exists.
  let isThere: Bool

  /// Reads a file of settings.
  ///
  /// - Parameter isRequired: true if the file has to exist; otherwise a missing file counts as empty.
  /// - Throws: ``ConfigurationError`` if the file can't be read, is not YAML, or does not contain names with values.
  init(_ path: String, isRequired: Bool) throws(ConfigurationError) {
    self.path = path
    guard let data = FileManager.default.contents(atPath: path) else {
      if isRequired || FileManager.default.fileExists(atPath: path) {
        throw ConfigurationError(description: "\(path) can't be read: \(UnreadableFile.reason(of: path))")
      }
      (entries, isThere) = ([:], false)
      return
    }
    isThere = true
    entries = try ConfigurationFile.entries(of: String(decoding: data, as: UTF8.self), path)
  }

  static func entries(of text: String, _ path: String) throws(ConfigurationError) -> [String: Entry] {
    guard !YAMLAliases.areTooMany(in: text) else {
      throw ConfigurationError(description: "\(path) has \(YAMLAliases.excess)")
    }
    let root: Node?
    do {
      // The raw values are read: conversions of Yams end the process for some input, such as a list in place of a
      // name.
      root = try Yams.compose(yaml: text)
    } catch YamlError.duplicatedKeysInMapping(let names, _) {
      let name = names.first ?? ""
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }
      let location = lines.lastIndex { $0.hasPrefix(name) }.map { ", line \($0 + 1)" } ?? ""
      throw ConfigurationError(description: "\(name) is given twice (\(path)\(location)): expected each setting once")
    } catch {
      throw ConfigurationError(
        description: "\(path) is not YAML: \(String(describing: error).split(separator: "\n").first ?? "")")
    }
    guard let root else { return [:] }
    let shape = ConfigurationError(description: "\(path) does not contain settings: expected one `name: value` a line")
    guard let settings = root.mapping else { throw shape }
    var entries: [String: Entry] = [:]
    for (key, value) in settings {
      ReadingSteps.add(1 + (value.sequence?.count ?? 0))
      guard let name = key.scalar?.string else { throw shape }
      let line = key.mark?.line ?? 1
      let words = value.sequence.map { list in list.map(\.scalar?.string) } ?? [value.scalar?.string]
      guard !words.contains(nil) else {
        throw ConfigurationError(
          description:
            "invalid value of \(name) (\(path), line \(line)): expected one value, or a list of values"
        )
      }
      entries[name] = Entry(value: words.compactMap(\.self).joined(separator: ","), line: line)
    }
    return entries
  }
}
