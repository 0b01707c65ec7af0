import Foundation
import PushTesting
import Testing

@testable import GatewayProtocol
@testable import HTTP2Transport
@testable import PushCore
@testable import PushGateway

@Suite struct ServerCertificateTests {
  let folder: TemporaryFolder
  var state: StateFolder { StateFolder(folder.file("state")) }
  let configuration: Configuration

  init() throws {
    folder = try TemporaryFolder()
    configuration = try Configuration(
      state: folder.file("state"), flags: [:], file: nil, environment: [:])
    try PrivateFile.createFolder(state.path)
    try state.prepareCertificates()
  }

  func replace() throws {
    try state.install(try state.authority().issueServer(names: ["push.example.com"], addresses: []))
  }

  @Test func `files that have changed are used, once`() throws {
    let certificate = try ServerCertificate(state, configuration)
    let before = certificate.source.context
    #expect(certificate.look() == nil)
    try replace()
    #expect(certificate.record?.names.contains("push.example.com") == false)
    #expect(certificate.look() == .replaced)
    #expect(certificate.source.context !== before)
    #expect(certificate.record?.names == ["push.example.com"])
    #expect(certificate.look() == nil)
  }

  @Test func `files that the settings name are watched, and clients here find the certificate that is shown`() throws {
    let (pem, key) = (folder.file("other.pem"), folder.file("other.key"))
    func issue(_ name: String) throws {
      let issued = try state.authority().issueServer(names: [name], addresses: [])
      try state.write(issued.certificatePEM, to: pem, mode: 0o644)
      try state.write(issued.keyPEM, to: key, mode: 0o600)
    }
    func shown() -> [UInt8]? { FileManager.default.contents(atPath: state.shownCertificatePath).map(Array.init) }
    try issue("push.example.com")
    let certificate = try ServerCertificate(
      state,
      Configuration(
        state: state.path, flags: ["certificate": pem, "certificate_key": key], file: nil, environment: [:]))
    let before = try #require(certificate.source.context.certificatePEM)
    #expect(certificate.look() == nil)
    #expect(shown() == before)
    try issue("push.example.com")
    #expect(certificate.look() == .replaced)
    #expect(certificate.source.context.certificatePEM != before)
    #expect(shown() == certificate.source.context.certificatePEM)
    // A certificate whose key has not been written yet.
    let (next, present) = (try state.authority().issueServer(names: ["push.example.com"], addresses: []), shown())
    try state.write(next.certificatePEM, to: pem, mode: 0o644)
    #expect(certificate.look() == .unusable("\(key) holds no private key for \(pem)"))
    #expect(shown() == present)
    try state.write(next.keyPEM, to: key, mode: 0o600)
    #expect(certificate.look() == .replaced)
    // The gateway's own certificate is not shown as an external one.
    certificate.use(try certificate.read(configuration), configuration)
    #expect(shown() == nil)
  }

  @Test func `what can't be used is told once, and what was before stays until it can`() throws {
    let certificate = try ServerCertificate(state, configuration)
    let (context, key) = (certificate.source.context, try #require(FileManager.default.contents(atPath: state.keyPath)))
    try state.write(Array("no key".utf8), to: state.keyPath, mode: 0o600)
    let problem = "\(state.keyPath) holds no private key for \(state.certificatePath)"
    #expect(certificate.look() == .unusable(problem))
    #expect(certificate.look() == nil)
    #expect(throws: (any Error).self) { try certificate.reload() }
    try FileManager.default.removeItem(atPath: state.keyPath)
    #expect(certificate.look() == .unusable("\(state.keyPath) can't be read: there is no such file"))
    #expect(certificate.source.context === context)
    try state.write(Array(key), to: state.keyPath, mode: 0o600)
    #expect(certificate.look() == .replaced)
    #expect(certificate.look() == nil)
  }
}
