import ArgumentParser
import Foundation
import Glibc
import PushCore
import PushGateway

/// The folder of a gateway that runs on this machine.
struct FolderOptions: ParsableArguments {
  /// The help of `--state`. Option groups that need it declare the option themselves: a debug build of ArgumentParser
  /// reads a group four times as often for each group around it.
  static let help: ArgumentHelp = "The gateway's state folder (also $PUSHGATEWAY_STATE)."

  @Option(name: .long, help: help, completion: .directory)
  var state: String?

  init() {}

  /// Creates the options from a given folder.
  init(state: String?) {
    self.init()
    self.state = state
  }

  /// - Throws: ``CommandFailure`` if no folder is named and there is no home directory.
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

  /// Checks the access to a file of the folder.
  ///
  /// - Throws: ``CommandFailure`` if the folder of a gateway exists and belongs to another user, so that `path` is not
  ///   accessible.
  func checkPermission(of path: String, mode: Int32) throws {
    guard unsafe access(path, mode) != 0, errno == EACCES else { return }
    throw CommandFailure(
      .notAuthorized, "\(path) may not be used by this user: run the command as the gateway's own user")
  }
}

/// The folder option of commands that use only the files of the folder or the process of its gateway.
struct LocalOptions: ParsableArguments {
  @Option(name: .long, help: FolderOptions.help, completion: .directory)
  var state: String?
  @Option(help: .hidden) var gateway: String?

  func validate() throws {
    guard gateway == nil else {
      throw ValidationError(
        "--gateway can't be given here: this command is about files of the gateway's own machine, "
          + "so run it there, as over ssh")
    }
  }

  var folder: StateFolder { get throws { try FolderOptions(state: state).folder } }
}
