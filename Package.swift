// swift-tools-version:6.2
import PackageDescription

/// What the build of `make fuzz` (scripts/fuzz) links; nil in every other.
let fuzzLibraries = Context.environment["PUSHGATEWAY_FUZZ"]?.split(separator: " ").map(String.init)

/// Whether this is a build of `make sanitize` (scripts/sanitize).
let isSanitizing = Context.environment["PUSHGATEWAY_SANITIZE"] != nil

/// Whether this is a build of `make simulate-scale`.
let isScale = Context.environment["PUSHGATEWAY_SCALE"] != nil

/// What `make build` calls this version (scripts/version); other builds have the version of the sources.
let version = Context.environment["PUSHGATEWAY_VERSION"]

/// The settings of every Swift target: each target states what it uses, says `unsafe` where it is, and compiles without a warning.
/// Targets that other packages use have only these, because SwiftPM refuses a dependency with unsafe flags.
let safeSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// The settings of the product's own Swift targets, and more.
func settings(_ more: [SwiftSetting] = []) -> [SwiftSetting] {
  var settings = safeSettings
  if fuzzLibraries != nil {
    // What is ours then counts which ways its inputs take, and checks what debug builds check.
    settings.append(.unsafeFlags(["-sanitize=fuzzer", "-assert-config", "Debug"]))
  } else if isSanitizing {
    // What is ours then has no memory of its own.
    settings.append(.define("PLAIN_MALLOC"))
  }
  return settings + more
}

/// So that the compiler keeps a JSONElement from outliving its document, and a field's bytes from outliving their message.
let lifetimes: SwiftSetting = .enableExperimentalFeature("Lifetimes")

/// A setting of targets that a push crosses in small steps: other targets specialize and inline their functions, which saves 7 % of
/// the instructions. (-cross-module-optimization looks at `public` declarations only, and here are none.) Of all other targets
/// this would save nothing, and a release build would take two minutes more. An async function that another target inlines runs in
/// memory of the wrong size: `@inline(never)` prevents this, and scripts/check-async finds the functions that need it.
let inlined: SwiftSetting = .unsafeFlags(["-enable-cmo-everything"], .when(configuration: .release))

/// Optimizing across modules, each target defines the same specializations of the standard library for itself: one of them
/// is linked.
let oneOfEach: LinkerSetting = .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"], .when(configuration: .release))

/// The packages of the products that targets name among their dependencies.
let packages = [
  "ArgumentParser": "swift-argument-parser", "Atomics": "swift-atomics", "DequeModule": "swift-collections",
  "GRDB": "GRDB.swift", "GRDBSQLite": "GRDB.swift", "Histogram": "hdrhistogram-swift", "Logging": "swift-log",
  "NIOCore": "swift-nio", "NIOEmbedded": "swift-nio", "NIOHTTP1": "swift-nio", "NIOPosix": "swift-nio",
  "RealModule": "swift-numerics", "SystemPackage": "swift-system", "Yams": "Yams",
]

func dependencies(_ names: [String]) -> [Target.Dependency] {
  names.map { name in packages[name].map { .product(name: name, package: $0) } ?? .byName(name: name) }
}

func library(
  _ name: String, _ names: [String] = [], path: String? = nil, _ more: SwiftSetting..., linker: [LinkerSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies(names), path: path, swiftSettings: settings(more), linkerSettings: linker)
}

func program(
  _ name: String, _ names: [String], path: String? = nil, exclude: [String] = [], linker: [LinkerSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies(names), path: path, exclude: exclude, swiftSettings: settings(),
    linkerSettings: linker)
}

func tests(_ name: String, _ names: [String], path: String? = nil, exclude: [String] = []) -> Target {
  .testTarget(
    name: name, dependencies: dependencies(names), path: path, exclude: exclude, swiftSettings: settings())
}

/// A cell of many gateways in a simulation: tests run a small one, `make simulate-scale` builds this with optimization and runs
/// a large one.
let scaleNames = [
  "NATSClient", "NATSTesting", "PushCluster", "PushCore", "PushGateway", "PushStorage", "PushTesting", "NIOCore",
  "NIOPosix",
]
let scale =
  isScale
  ? program("cell-scale", scaleNames, path: "Tests/CellScale", exclude: ["CellScaleTests.swift"])
  : tests("CellScaleTests", scaleNames, path: "Tests/CellScale", exclude: ["ScaleProgram.swift"])

/// What takes bytes from outside, as targets of a fuzzer (docs/internals/fuzzing.md): tests replay their inputs,
/// `make fuzz` looks for more.
let fuzzNames = [
  "GatewayClient", "GatewayProtocol", "HTTP2Transport", "NATSClient", "PushCluster", "PushCore", "PushGateway",
  "PushPolicy", "PushStorage", "TerminalUI", "Logging", "NIOCore", "NIOEmbedded", "GRDB",
]
let fuzz =
  if let fuzzLibraries {
    program(
      "fuzz", fuzzNames, path: "Tests/Fuzz", exclude: ["FuzzCorpusTests.swift"], linker: [.unsafeFlags(fuzzLibraries)])
  } else {
    tests(
      "FuzzTests", fuzzNames + (isSanitizing ? ["CWatchedMutex"] : []), path: "Tests/Fuzz", exclude: ["Fuzz.swift"])
  }

let package = Package(
  name: "PushGateway",
  // Of PushGatewayTesting; the gateway runs on Linux.
  platforms: [.macOS(.v13)],
  products: [
    .executable(name: "pushcli", targets: ["pushcli"]),
    // A test gateway for the tests of another package (docs/send/testing.md).
    .library(name: "PushGatewayTesting", targets: ["PushGatewayTesting"]),
  ],
  dependencies: [
    // Exact versions, so that what was tested is what is built; Package.resolved is not kept.
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    // What those above need; a target names each, or SwiftPM would take it for unused.
    .package(url: "https://github.com/apple/swift-atomics.git", exact: "1.3.0"),
    .package(url: "https://github.com/apple/swift-numerics", exact: "1.1.1"),
    .package(url: "https://github.com/apple/swift-system.git", exact: "1.8.1"),
  ],
  targets: [
    .systemLibrary(name: "CNGHTTP2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CQRencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CNats", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    .systemLibrary(name: "CSQLiteSession", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(name: "CAdModel", exclude: ["ad-model.bin"]),
    // The files of the device in a browser, embedded.
    .target(name: "CWebPhone", exclude: ["console", "phone"]),
    library("PushPolicy", ["CAdModel", "CSimdjson"], inlined, lifetimes, linker: [oneOfEach]),
    .target(
      name: "CVersion", cSettings: version.map { [.define("PUSHGATEWAY_VERSION", to: "\"\($0)\"")] } ?? []),
    // The vocabulary, and small values: identifiers, texts of them, random numbers, the clock, keys and certificates.
    library("PushCore", ["COpenSSL", "CVersion", "PushPolicy", "Logging"], inlined, lifetimes),
    // HTTP/2 over TLS, of a server and a client: sessions without I/O, and the connections that carry them.
    library(
      "HTTP2Transport", ["CNGHTTP2", "COpenSSL", "PushCore", "NIOCore", "NIOPosix", "Atomics", "DequeModule"], inlined,
      lifetimes),
    // What both ends spell: the lines of devices, the messages of the control plane, where they go.
    library("GatewayProtocol", ["PushCore", "PushPolicy"], inlined, lifetimes),
    // What must not be lost: the mailbox, registrations, channels, the delivery log, and their homes in SQLite.
    library(
      "PushStorage", ["CSQLiteSession", "PushCore", "PushPolicy", "DequeModule", "Logging", "GRDB", "GRDBSQLite"],
      inlined, lifetimes),
    // Messages to and from a cluster of NATS, and what its JetStream is asked for.
    library("NATSClient", ["CNats", "PushCore", "PushPolicy"], lifetimes),
    // What gateways share over NATS JetStream: mailboxes, and the log of all else.
    library("PushCluster", ["NATSClient", "PushCore", "PushStorage", "DequeModule", "Logging"], lifetimes),
    // The gateway: the APIs, delivery, faults, and what builds, starts and stops all of it.
    library(
      "PushGateway",
      [
        "CWebPhone", "GatewayClient", "GatewayProtocol", "HTTP2Transport", "NATSClient", "PushCluster", "PushCore",
        "PushPolicy", "PushStorage", "NIOCore", "NIOHTTP1", "NIOPosix", "DequeModule", "Logging", "Yams",
      ], lifetimes),
    // The other end: a connection to a gateway, and a device's stream on it.
    library(
      "GatewayClient",
      ["GatewayProtocol", "HTTP2Transport", "PushCore", "PushPolicy", "Queues", "NIOCore", "NIOHTTP1", "NIOPosix"],
      lifetimes),
    // What `pushcli bench` does to a gateway.
    library(
      "LoadTest",
      [
        "GatewayClient", "GatewayProtocol", "HTTP2Transport", "PushCore", "NIOCore", "NIOPosix", "DequeModule",
        "RealModule", "Histogram",
      ], lifetimes),
    // The phone's sounds, embedded: scripts/sounds.
    .target(name: "CSounds", exclude: ["wav"]),
    // One bounded queue for all that waits between tasks.
    library("Queues"),
    library("TerminalUI", ["Queues"]),
    program(
      "pushcli",
      [
        "CQRencode", "CSounds", "GatewayClient", "GatewayProtocol", "HTTP2Transport", "LoadTest", "PushCore",
        "PushGateway", "PushPolicy", "PushStorage", "Queues", "TerminalUI", "ArgumentParser", "Logging",
      ]),
    // The client of a test gateway, for packages of senders.
    .target(name: "PushGatewayTesting", swiftSettings: safeSettings),
    tests("PushGatewayTestingTests", ["PushGatewayTesting"]),
    // The example of clients/swift, which is also a package of its own.
    tests(
      "SenderTests", ["PushGatewayTesting"], path: "clients/swift/Tests/SenderTests", exclude: ["SenderXCTests.swift"]),
    // Programs of developers, no part of the product. What a decision costs: make bench-policy.
    .target(name: "CMallocCount", path: "Tools/CMallocCount"),
    program("policy-bench", ["CMallocCount", "PushPolicy"], path: "Tools/policy-bench"),
    program("train-ads", ["PushPolicy"], path: "Tools/train-ads", exclude: ["Texts"]),
    tests("PushPolicyTests", ["PushPolicy", "PushTesting"]),
    // A disk that fails, under SQLite.
    .target(name: "CFaultyDisk", path: "Tests/CFaultyDisk", linkerSettings: [.linkedLibrary("sqlite3")]),
    // What tests of several targets need: samples, pairs of peers without a socket, a storage backend in memory, a clock.
    library(
      "PushTesting",
      ["HTTP2Transport", "PushCore", "PushPolicy", "PushStorage", "GRDB", "Logging", "NIOCore", "NIOEmbedded"],
      path: "Tests/PushTesting"),
    // Brokers that tests start, and a model of them.
    library("NATSTesting", ["NATSClient", "PushCore", "PushTesting"], path: "Tests/NATSTesting"),
    tests("NATSClientTests", ["NATSClient", "NATSTesting", "PushCore", "PushTesting"]),
    tests("PushCoreTests", ["PushCore", "PushTesting"]),
    tests(
      "HTTP2TransportTests",
      ["CNGHTTP2", "COpenSSL", "HTTP2Transport", "PushCore", "PushTesting", "NIOCore", "NIOEmbedded"]),
    tests(
      "PushStorageTests",
      [
        "CFaultyDisk", "NATSClient", "NATSTesting", "PushCluster", "PushCore", "PushPolicy", "PushStorage",
        "PushTesting", "GRDB", "GRDBSQLite",
      ]),
    tests(
      "LoadTestTests",
      [
        "GatewayProtocol", "HTTP2Transport", "LoadTest", "PushCore", "PushPolicy", "PushTesting", "NIOCore",
        "NIOEmbedded",
      ]),
    tests(
      "PushGatewayTests",
      [
        "GatewayClient", "GatewayProtocol", "HTTP2Transport", "LoadTest", "NATSClient", "NATSTesting", "PushCluster",
        "PushCore", "PushGateway", "PushPolicy", "PushStorage", "PushTesting", "SystemPackage", "NIOEmbedded",
        "NIOHTTP1",
      ]),
    // A terminal for tests.
    library("TerminalTesting", path: "Tests/TerminalTesting"),
    tests("GatewayProtocolTests", ["GatewayProtocol", "PushCore", "PushPolicy", "PushTesting"]),
    tests(
      "GatewayClientTests",
      [
        "GatewayClient", "GatewayProtocol", "HTTP2Transport", "PushCore", "PushPolicy", "PushTesting", "Queues",
        "TaskTesting", "NIOCore", "NIOEmbedded", "NIOPosix",
      ]),
    // Tasks that run when a test says so.
    library("TaskTesting", path: "Tests/TaskTesting"),
    tests("QueuesTests", ["Queues", "TaskTesting"]),
    tests("TerminalUITests", ["TaskTesting", "TerminalTesting", "TerminalUI"]),
    tests(
      "pushcliTests",
      [
        "pushcli", "GatewayClient", "GatewayProtocol", "LoadTest", "PushCore", "PushGateway", "PushPolicy",
        "PushTesting", "Queues", "TerminalTesting", "TerminalUI", "ArgumentParser",
      ], exclude: ["Phone/Screens"]),
    scale,
    fuzz,
  ] + (isSanitizing ? [.target(name: "CWatchedMutex", path: "Tests/Sanitize/CWatchedMutex")] : []),
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
