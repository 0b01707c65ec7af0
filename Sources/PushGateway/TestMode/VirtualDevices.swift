import NIOCore
import PushCore
import Synchronization

/// Connects the devices of tests on the event loops of a test gateway.
final class VirtualDevices: Sendable {
  private let loops = Mutex<[NIOLoopBound<LoopParts>]>([])
  private let recorder: PushRecorder

  /// - Parameter recorder: gets the broadcasts to the devices.
  init(_ recorder: PushRecorder) { self.recorder = recorder }

  /// Adds an event loop. Call it on that loop.
  func join(_ shared: LoopParts, loop: any EventLoop) {
    let bound = NIOLoopBound(shared, eventLoop: loop)
    loops.withLock { $0.append(bound) }
  }

  /// Connects a device; on return it receives pushes.
  func connect(_ device: DeviceID) async {
    let chosen = loops.withLock { loops in
      loops.isEmpty ? nil : loops[Int(truncatingIfNeeded: device.row & 0xFFFF) % loops.count]
    }
    guard let bound = chosen else { return }
    let loop = bound.eventLoop
    try? await loop.submit { [recorder] in VirtualDevice.connect(device, bound.value, recorder, on: loop) }.get()
  }
}
