import ArgumentParser
import Foundation
import Glibc
import PushCore
import PushGateway

/// The folder of a gateway that runs on this machine.
struct FolderOptions: ParsableArguments {
  @Option(name: .long, help: "The gateway's state folder (also $PUSHGATEWAY_STATE).", completion: .directory)
  var state: String?

  init() {}

  /// What would be meant by this option.
  init(state: String?) {
    self.init()
    self.state = state
  }

  /// - Throws: ``CommandFailure`` where none is named and there is no home.
  var folder: StateFolder {
    get throws {
      do {
        return StateFolder(
          try Configuration.stateFolder(flag: state, environment: ProcessInfo.processInfo.environment))
      } catch {
        throw CommandFailure(.usage, error.description)
      }
    }
  }

  /// Says so when a gateway's folder is there and another person's.
  ///
  /// - Throws: ``CommandFailure`` when `path`, a file of the folder, may not be looked at.
  func checkPermission(of path: String, mode: Int32) throws {
    guard unsafe access(path, mode) != 0, errno == EACCES else { return }
    throw CommandFailure(
      .notAuthorized, "\(path) may not be used by this user: run the command as the gateway's own user")
  }
}

/// The same for commands that work on the folder's files, or on the process of the gateway, and nowhere else.
struct LocalOptions: ParsableArguments {
  @OptionGroup var local: FolderOptions
  @Option(help: .hidden) var gateway: String?

  func validate() throws {
    guard gateway == nil else {
      throw ValidationError(
        "--gateway can't be given here: this command is about files of the gateway's own machine, "
          + "so run it there, as over ssh")
    }
  }

  var state: String? { local.state }
  var folder: StateFolder { get throws { try local.folder } }
}
