import Foundation
import PushCore

/// Reads the development key that the first start of a gateway made.
enum Development {
  static func read(_ folder: StateFolder) -> StateFolder.Development? {
    FileManager.default.contents(atPath: folder.developmentPath).flatMap {
      try? decodeJSON(StateFolder.Development.self, from: $0)
    }
  }
}
