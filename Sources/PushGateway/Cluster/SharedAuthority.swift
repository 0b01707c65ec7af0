import Logging
import PushCore
import PushStorage
import Synchronization

/// The CA of a cluster in the state folder of this gateway.
final class SharedAuthority: Sendable {
  private let files: SharedFiles
  private let folder: StateFolder
  private let work: RepeatedWork
  /// True if the folder does not have the files that another gateway has replaced.
  private let isLate = Atomic(false)

  init(_ files: SharedFiles, _ folder: StateFolder, logger: Logger) {
    (self.files, self.folder) = (files, folder)
    work = RepeatedWork(logger: logger)
  }

  /// Makes the CA of the first gateway that of the cluster; the other folders adopt it, and each later one.
  func share() async throws {
    try folder.adoptAuthority(try await files.propose(folder.authorityFiles))
    files.onChange { [weak self] files in
      guard let self else { return }
      do {
        try folder.adoptAuthority(files)
        isLate.store(false, ordering: .relaxed)
      } catch {
        // ``tend()`` repeats it, and logs the failure.
        isLate.store(true, ordering: .relaxed)
      }
    }
  }

  /// Adopts the CA after a failure.
  func tend() async {
    guard isLate.load(ordering: .relaxed) else { return }
    await work.attempt("authority") {
      try folder.adoptAuthority(try await files.all())
      isLate.store(false, ordering: .relaxed)
    }
  }
}
