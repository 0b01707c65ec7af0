import GatewayProtocol
import HTTP2Transport
import PushCore
import PushPolicy
import PushStorage

/// The reports of devices that read a stream of events, which carries no lines of the device.
extension DeviceAPI {
  /// Accepts lines `presented` and `answer`. Returns a line `answered` for each answer that is decided; the device repeats
  /// an answer without such a line.
  func report(_ device: Device, _ request: ControlRequest) async throws -> Response {
    let parser = JSONParser()
    var body: [UInt8] = []
    for piece in request.body.split(separator: UInt8(ascii: "\n")) {
      let now = clock.milliseconds()
      let bytes = Array(piece)
      guard let line = DeviceLine(bytes.span, parser: parser) else { continue }
      switch line {
      case .presented(let id, let parts):
        guard budgets.allowsReport(device.id, at: now), let push = try await sent(id, to: device) else { continue }
        pushes.log.append([
          DeliveryLog.Row(
            at: now, event: .presented, id: push.id, device: device.id, app: push.app,
            detail: .presented(parts.map(\.rawValue)))
        ])
      case .answer(let id, let action):
        guard budgets.allowsAnswer(device.id, at: now) else { continue }
        var counting: String?
        if let push = try await sent(id, to: device) {
          counting = try await answer(push, action, by: device, at: now)
        }
        body += PushLine.answered(id, counting)
        body.append(UInt8(ascii: "\n"))
      default: continue
      }
    }
    return Response(status: 200, contentType: "application/x-ndjson", body: body)
  }

  /// Returns a push that the device was sent: from memory, or by a search of the delivery log.
  func sent(_ id: APNSID, to device: Device) async throws -> SentPush? {
    if let push = pushes.histories.push(id, of: device.id) { return push }
    return try await searching(device) { try await pushes.find(id, sentTo: device.id) }
  }

  /// Stores an answer; returns the action that counts, nil if the push does not offer this one.
  private func answer(
    _ push: SentPush, _ action: String, by device: Device, at now: Int64
  ) async throws -> String? {
    try await withCheckedThrowingContinuation { continuation in
      pushes.answer(push, action, by: device, on: nil, at: now) { continuation.resume(with: $0) }
    }
  }
}
