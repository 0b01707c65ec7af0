import Foundation
import Glibc
import PushGateway
import PushPolicy

/// The phone joined to its gateway: what happens there becomes messages, what it wants done is done here.
struct PhoneSession {
  private let session: DeviceSession
  private let store: PhoneStore
  private let terminal: Terminal
  private let sounds: SoundPlayer

  /// How long leaving waits for the gateway to have read the last answer.
  private static let patience = Duration.seconds(1)

  init(_ session: DeviceSession, device: String, folder: StateFolder) {
    self.session = session
    store = PhoneStore(path: folder.devicesPath + "/" + device + ".phone.json", device: device)
    let terminal = Terminal()
    self.terminal = terminal
    sounds = SoundPlayer(ring: { terminal.ring() })
  }

  /// Runs until the person quits.
  func run() async throws {
    let model = store.load()
    session.setSilent(model.isSilent)
    let (messages, continuation) = AsyncStream.makeStream(of: PhoneMessage.self)
    let events = session.events()
    let forwarder = Task {
      var lastConnected: Date?
      for await event in events {
        if case .connected = event { lastConnected = Date() }
        continuation.yield(PhoneSession.message(for: event, lastConnected: lastConnected))
      }
    }
    try await Program.run(model: model, terminal: terminal, messages: messages) { effect, model in
      perform(effect, model)
    }
    session.finish()
    await session.waitUntilFinished(atMost: PhoneSession.patience)
    forwarder.cancel()
  }

  private func perform(_ effect: PhoneEffect, _ model: PhoneModel) {
    switch effect {
    case .save:
      // First on disk here, then no longer the gateway's.
      guard store.save(model) else { return }
      try? session.acknowledge(model.lastSeq)
    case .presented(let id, let parts): session.presented(id, parts)
    case .answer(let id, let action): session.answer(id, action)
    case .play(let sound): sounds.play(sound)
    case .state(let isSilent): session.setSilent(isSilent)
    case .quit: break
    }
  }

  private static func message(for event: DeviceEvent, lastConnected: Date?) -> PhoneMessage {
    switch event {
    case .connected(let gateway): .connection(.connected(gateway: gateway))
    case .disconnected(_, let pause):
      .connection(.disconnected(lastConnected: lastConnected, retryAt: Date() + TimeInterval(pause.components.seconds)))
    case .apps(let apps): .apps(apps)
    case .push(let push): .push(push.push)
    case .retract(let id): .retract(id: id)
    case .gap(let dropped): .gap(dropped: dropped)
    }
  }
}

/// The phone's state on disk, replaced as a whole at every save (L2).
private struct PhoneStore {
  let path: String
  let device: String

  /// The state as it was left; a file that can't be read is put aside, not overwritten.
  func load() -> PhoneModel {
    guard let data = FileManager.default.contents(atPath: path) else { return PhoneModel(device: device) }
    if let model = try? JSONDecoder().decode(PhoneModel.self, from: data) { return model }
    unsafe rename(path, path + ".damaged")
    return PhoneModel(device: device)
  }

  /// Whether the state is on disk now.
  func save(_ model: PhoneModel) -> Bool {
    guard let data = try? JSONEncoder().encode(model) else { return false }
    let draft = path + ".new"
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    let count = unsafe data.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    return unsafe count == data.count && fdatasync(file) == 0 && rename(draft, path) == 0
  }
}
