import Foundation
import PushCore

/// Signs provider tokens with a `.p8` key (reference §4.1), as every APNs sender does.
struct ProviderTokenSigner {
  private let key: ES256Key
  private let keyID: String
  private let teamID: String

  /// Reads the key.
  ///
  /// - Throws: ``CommandFailure`` when the file is no such key.
  init(path: String, keyID: String, teamID: String) throws {
    guard let pem = FileManager.default.contents(atPath: path) else {
      throw CommandFailure(.usage, "\(path) can't be read: name the .p8 file with --key")
    }
    do {
      key = try ES256Key(privatePEM: Array(pem))
    } catch {
      throw CommandFailure(.notAuthorized, "\(path) is no APNs key (\(error)): name the .p8 file with --key")
    }
    self.keyID = keyID
    self.teamID = teamID
  }

  /// A token made at `now`, in seconds since 1970.
  func token(now: Int) throws -> String {
    let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"\#(teamID)","iat":\#(now)}"#.utf8))
    let signature = try key.signature(of: Array("\(header).\(claims)".utf8))
    return "\(header).\(claims).\(Base64URL.encode(signature))"
  }
}
