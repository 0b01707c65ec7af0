import Foundation
import PushCore

/// The first start's development key, as a command reads it.
enum Development {
  static func read(_ folder: StateFolder) -> StateFolder.Development? {
    FileManager.default.contents(atPath: folder.developmentPath).flatMap {
      try? decodeJSON(StateFolder.Development.self, from: $0)
    }
  }
}
