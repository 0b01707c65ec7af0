import Foundation
import GatewayClient
import GatewayProtocol
import Glibc

extension GatewayAddress {
  /// The maximum seconds of each step: the connection, and each wait for more of the answer.
  private static let http1StepTime = 10
  private static let maximumHTTP1Size = 1 << 20

  /// Gets the resource at a path by one request of HTTP/1.1 without TLS, on a separate socket: the check of `http_listen`
  /// by `pushcli doctor`. It blocks until the answer is complete.
  func getHTTP1(_ path: String) throws(ClientError) -> (status: Int, body: [UInt8]) {
    let socket = try openSocket()
    defer { close(socket) }
    let authority = description
    let request = Array("GET \(path) HTTP/1.1\r\nhost: \(authority)\r\nconnection: close\r\n\r\n".utf8)
    guard unsafe send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw ClientError(.unreachable, "\(authority) closed the connection before its first answer")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count < GatewayAddress.maximumHTTP1Size {
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    guard let answer = GatewayAddress.http1Answer(in: bytes) else {
      throw ClientError(
        .unreachable,
        "\(authority) answers, and not in HTTP/1.1: is it the gateway's `http_listen`? `listen` is https://")
    }
    return answer
  }

  /// Parses a complete answer; nil if it is not one.
  static func http1Answer(in bytes: [UInt8]) -> (status: Int, body: [UInt8])? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix("HTTP/1."), let end = text.range(of: "\r\n\r\n"),
      let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return (status, Array(text[end.upperBound...].utf8))
  }

  private func openSocket() throws(ClientError) -> Int32 {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else { throw ClientError(.unreachable, "\(host) has no address: check the name") }
    defer { unsafe freeaddrinfo(list) }
    var next = unsafe list
    while let info = unsafe next?.pointee {
      unsafe next = info.ai_next
      let socket = unsafe Glibc.socket(
        info.ai_family, info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), info.ai_protocol)
      guard socket >= 0 else { continue }
      var time = timeval(tv_sec: GatewayAddress.http1StepTime, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        unsafe setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
      }
      if unsafe Glibc.connect(socket, info.ai_addr, info.ai_addrlen) == 0 { return socket }
      close(socket)
    }
    throw ClientError(.unreachable, "nothing answers at \(host):\(port): is the gateway running?")
  }
}
