import HTTP2Transport
import PushCore
import PushStorage

/// The route `/v1/device/attachments/{id}`: the attachment of a message, for the devices of its recipients.
struct AttachmentsAPI: Sendable {
  let api: DeviceAPI

  var routes: [Router.Route] { [api.route("GET", "\(AttachmentReference.path){id}", read)] }

  /// Answers an unknown id, an expired one and that of another device in the same way.
  private func read(_ device: Device, _ request: ControlRequest) async throws -> Response {
    guard let attachment = api.attachments.find(request.parameters[0], now: api.clock.seconds),
      attachment.recipients.contains(where: { includes($0, device) }),
      let content = try await api.attachments.content(of: attachment.id)
    else { throw Problem.notFound("this device has no attachment with this id: the gateway keeps each for a day") }
    return Response(
      status: 200, contentType: attachment.reference.type.contentType, body: content,
      fields: AttachmentsAPI.fields(attachment.reference.name))
  }

  /// Returns true for a device of a recipient. The present members of a group are its recipients.
  private func includes(_ recipient: MessageSender.Recipient, _ device: Device) -> Bool {
    switch recipient {
    case .device(let id): id == device.id
    case .group(let group):
      api.groups.group(at: GroupAddress(group: group, environment: .development).device)
        .map { $0.members.contains(device.person) } ?? false
    }
  }

  // MARK: Fields

  /// Returns the fields that make a browser save the content, and never show it as a page of the gateway.
  private static func fields(_ name: String) -> [(name: StaticString, value: String)] {
    [
      ("content-disposition", disposition(name)), ("x-content-type-options", "nosniff"),
      ("content-security-policy", "default-src 'none'; sandbox"), ("cross-origin-resource-policy", "same-origin"),
      ("cache-control", "no-store"),
    ]
  }

  /// Returns the field `content-disposition` with a name in UTF-8, and in ASCII for clients without RFC 8187 (RFC 6266
  /// §4.3).
  static func disposition(_ name: String) -> String {
    var (plain, encoded) = ("", "")
    for scalar in name.unicodeScalars { plain.unicodeScalars.append(isPlain(scalar) ? scalar : "_") }
    for byte in name.utf8 {
      let bytes = isUnreserved(byte) ? [byte] : [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
      encoded += String(decoding: bytes, as: UTF8.self)
    }
    return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(encoded)"
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    (0x20...0x7E).contains(scalar.value) && !"\"\\%".unicodeScalars.contains(scalar)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension AttachmentType {
  /// The value of the field `content-type`.
  fileprivate var contentType: StaticString {
    switch self {
    case .text: "text/plain"
    case .png: "image/png"
    case .jpeg: "image/jpeg"
    case .gif: "image/gif"
    case .webp: "image/webp"
    case .pdf: "application/pdf"
    case .other: "application/octet-stream"
    }
  }
}
