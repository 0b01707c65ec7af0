// swift-tools-version:6.2
import PackageDescription

// In your own package, replace the path by the URL and a version of PushGateway.
let package = Package(
  name: "Sender",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "PushGateway", path: "../..")],
  targets: [
    .testTarget(
      name: "SenderTests", dependencies: [.product(name: "PushGatewayTesting", package: "PushGateway")])
  ]
)
