// swift-tools-version:6.2
import PackageDescription

/// What the build of `make fuzz` (scripts/fuzz) links; nil in every other.
let fuzzLibraries = Context.environment["PUSHGATEWAY_FUZZ"]?.split(separator: " ").map(String.init)

/// Whether this is a build of `make sanitize` (scripts/sanitize).
let isSanitizing = Context.environment["PUSHGATEWAY_SANITIZE"] != nil

/// What is ours then counts which ways its inputs take, and checks what debug builds check. In a build of `make sanitize` it
/// has no memory of its own.
let examined: [SwiftSetting] =
  fuzzLibraries != nil
  ? [.unsafeFlags(["-sanitize=fuzzer", "-assert-config", "Debug"])]
  : isSanitizing ? [.define("PLAIN_MALLOC")] : []

/// What `make build` calls this version (scripts/version); other builds have the version of the sources.
let version = Context.environment["PUSHGATEWAY_VERSION"]

/// Every Swift target states what it uses, says `unsafe` where it is, and compiles without a warning.
var strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  // Debug builds and the tests check exclusive access at run time; it cost 6 % of what accepting a push costs.
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]
strict += examined

/// Settings of targets that a push crosses in small steps: other targets specialize and inline their functions, which saves 7 % of
/// the instructions. (-cross-module-optimization looks at `public` declarations only, and here are none.) Of all other targets
/// this would save nothing, and a release build would take two minutes more.
let inlined = strict + [.unsafeFlags(["-enable-cmo-everything"], .when(configuration: .release))]

/// What takes bytes from outside, as targets of a fuzzer (docs/fuzzing.md): tests replay their inputs, `make fuzz` looks for
/// more.
let fuzzDependencies: [Target.Dependency] = [
  "GatewayClient", "GatewayProtocol", "HTTP2Transport", "NATSClient", "PushCluster", "PushCore", "PushGateway",
  "PushPolicy", "PushStorage", "TerminalUI", .product(name: "Logging", package: "swift-log"),
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "GRDB", package: "GRDB.swift"),
]
let fuzz: Target =
  if let fuzzLibraries {
    .executableTarget(
      name: "fuzz", dependencies: fuzzDependencies, path: "Tests/Fuzz", exclude: ["FuzzCorpusTests.swift"],
      swiftSettings: strict, linkerSettings: [.unsafeFlags(fuzzLibraries)])
  } else {
    .testTarget(
      name: "FuzzTests", dependencies: fuzzDependencies + (isSanitizing ? ["CWatchedMutex"] : []), path: "Tests/Fuzz",
      exclude: ["Fuzz.swift"], swiftSettings: strict)
  }

/// A cell of many gateways in a simulation: tests run a small one, `make simulate-scale` builds this with optimization and runs
/// a large one.
let scaleDependencies: [Target.Dependency] = [
  "NATSClient", "NATSTesting", "PushCluster", "PushCore", "PushGateway", "PushStorage", "PushTesting",
  .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]
let scale: Target =
  Context.environment["PUSHGATEWAY_SCALE"] != nil
  ? .executableTarget(
    name: "cell-scale", dependencies: scaleDependencies, path: "Tests/CellScale", exclude: ["CellScaleTests.swift"],
    swiftSettings: strict)
  : .testTarget(
    name: "CellScaleTests", dependencies: scaleDependencies, path: "Tests/CellScale", exclude: ["ScaleProgram.swift"],
    swiftSettings: strict)

/// Optimizing across modules, each target defines the same specializations of the standard library for itself: one of them
/// is linked.
let oneOfEach: LinkerSetting = .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"], .when(configuration: .release))

let package = Package(
  name: "PushGateway",
  products: [
    .executable(name: "pushcli", targets: ["pushcli"])
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
    .target(
      name: "CSimdjson",
      linkerSettings: [.linkedLibrary("simdjson")]
    ),
    .target(name: "CAdModel", exclude: ["ad-model.bin"]),
    .target(
      name: "PushPolicy",
      dependencies: ["CAdModel", "CSimdjson"],
      // So that the compiler keeps a JSONElement from outliving its document.
      swiftSettings: inlined + [.enableExperimentalFeature("Lifetimes")],
      linkerSettings: [oneOfEach]
    ),
    .target(
      name: "CVersion", cSettings: version.map { [.define("PUSHGATEWAY_VERSION", to: "\"\($0)\"")] } ?? []),
    // The vocabulary, and small values: identifiers, texts of them, random numbers, the clock, keys and certificates.
    .target(
      name: "PushCore",
      dependencies: ["COpenSSL", "CVersion", "PushPolicy", .product(name: "Logging", package: "swift-log")],
      swiftSettings: inlined + [.enableExperimentalFeature("Lifetimes")]
    ),
    // HTTP/2 over TLS, of a server and a client: sessions without I/O, and the connections that carry them.
    .target(
      name: "HTTP2Transport",
      dependencies: [
        "CNGHTTP2",
        "COpenSSL",
        "PushCore",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Atomics", package: "swift-atomics"),
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      // So that the compiler keeps a field's bytes from outliving their message.
      swiftSettings: inlined + [.enableExperimentalFeature("Lifetimes")]
    ),
    // What both ends spell: the lines of devices, the messages of the control plane, where they go.
    .target(
      name: "GatewayProtocol",
      dependencies: ["PushCore", "PushPolicy"],
      swiftSettings: inlined + [.enableExperimentalFeature("Lifetimes")]
    ),
    // What must not be lost: the mailbox, registrations, channels, the delivery log, and their homes in SQLite.
    .target(
      name: "PushStorage",
      dependencies: [
        "CSQLiteSession",
        "PushCore",
        "PushPolicy",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: inlined + [.enableExperimentalFeature("Lifetimes")]
    ),
    // Messages to and from a cluster of NATS, and what its JetStream is asked for.
    .target(
      name: "NATSClient",
      dependencies: ["CNats", "PushCore", "PushPolicy"],
      swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]
    ),
    // What gateways share over NATS JetStream: mailboxes, and the log of all else.
    .target(
      name: "PushCluster",
      dependencies: [
        "NATSClient", "PushCore", "PushStorage", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]
    ),
    // The gateway: the APIs, delivery, faults, and what builds, starts and stops all of it.
    .target(
      name: "PushGateway",
      dependencies: [
        "GatewayClient",
        "GatewayProtocol",
        "HTTP2Transport",
        "NATSClient",
        "PushCluster",
        "PushCore",
        "PushPolicy",
        "PushStorage",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]
    ),
    // The other end: a connection to a gateway, and a device's stream on it.
    .target(
      name: "GatewayClient",
      dependencies: [
        "GatewayProtocol",
        "HTTP2Transport",
        "PushCore",
        "PushPolicy",
        "Queues",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]
    ),
    // What `pushcli bench` does to a gateway.
    .target(
      name: "LoadTest",
      dependencies: [
        "GatewayClient",
        "GatewayProtocol",
        "HTTP2Transport",
        "PushCore",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "RealModule", package: "swift-numerics"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ],
      swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]
    ),
    // The phone's sounds, embedded: scripts/sounds.
    .target(name: "CSounds", exclude: ["wav"]),
    // One bounded queue for all that waits between tasks.
    .target(name: "Queues", swiftSettings: strict),
    .target(name: "TerminalUI", dependencies: ["Queues"], swiftSettings: strict),
    .executableTarget(
      name: "pushcli",
      dependencies: [
        "CQRencode",
        "CSounds",
        "GatewayClient",
        "GatewayProtocol",
        "HTTP2Transport",
        "LoadTest",
        "PushCore",
        "PushGateway",
        "PushPolicy",
        "PushStorage",
        "Queues",
        "TerminalUI",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    // Programs of developers, no part of the product. What a decision costs: make bench-policy.
    .target(name: "CMallocCount", path: "Tools/CMallocCount"),
    .executableTarget(
      name: "policy-bench",
      dependencies: ["CMallocCount", "PushPolicy"],
      path: "Tools/policy-bench",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "train-ads",
      dependencies: ["PushPolicy"],
      path: "Tools/train-ads",
      exclude: ["Texts"],
      swiftSettings: strict
    ),
    .testTarget(name: "PushPolicyTests", dependencies: ["PushPolicy"], swiftSettings: strict),
    // A disk that fails, under SQLite.
    .target(name: "CFaultyDisk", path: "Tests/CFaultyDisk", linkerSettings: [.linkedLibrary("sqlite3")]),
    // What tests of several targets need: samples, pairs of peers without a socket, a storage backend in memory, a clock.
    .target(
      name: "PushTesting",
      dependencies: [
        "HTTP2Transport", "PushCore", "PushPolicy", "PushStorage", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      path: "Tests/PushTesting",
      swiftSettings: strict
    ),
    // Brokers that tests start, and a model of them.
    .target(
      name: "NATSTesting", dependencies: ["NATSClient", "PushCore", "PushTesting"], path: "Tests/NATSTesting",
      swiftSettings: strict
    ),
    .testTarget(
      name: "NATSClientTests", dependencies: ["NATSClient", "NATSTesting", "PushCore", "PushTesting"],
      swiftSettings: strict),
    .testTarget(name: "PushCoreTests", dependencies: ["PushCore", "PushTesting"], swiftSettings: strict),
    .testTarget(
      name: "HTTP2TransportTests",
      dependencies: [
        "CNGHTTP2", "COpenSSL", "HTTP2Transport", "PushCore", "PushTesting",
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "PushStorageTests",
      dependencies: [
        "CFaultyDisk", "NATSClient", "NATSTesting", "PushCluster", "PushCore", "PushPolicy", "PushStorage",
        "PushTesting",
        .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "LoadTestTests",
      dependencies: [
        "HTTP2Transport", "LoadTest", "PushCore", "PushPolicy", "PushTesting",
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "PushGatewayTests",
      dependencies: [
        "GatewayClient", "GatewayProtocol", "HTTP2Transport", "LoadTest", "NATSClient", "NATSTesting", "PushCluster",
        "PushCore", "PushGateway", "PushPolicy", "PushStorage", "PushTesting",
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    // A terminal for tests.
    .target(name: "TerminalTesting", path: "Tests/TerminalTesting", swiftSettings: strict),
    .testTarget(
      name: "GatewayProtocolTests",
      dependencies: ["GatewayProtocol", "PushCore", "PushPolicy"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "GatewayClientTests",
      dependencies: [
        "GatewayClient", "GatewayProtocol", "HTTP2Transport", "PushCore", "PushPolicy", "PushTesting", "Queues",
        "TaskTesting", .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    // Tasks that run when a test says so.
    .target(name: "TaskTesting", path: "Tests/TaskTesting", swiftSettings: strict),
    .testTarget(name: "QueuesTests", dependencies: ["Queues", "TaskTesting"], swiftSettings: strict),
    .testTarget(
      name: "TerminalUITests", dependencies: ["TaskTesting", "TerminalTesting", "TerminalUI"], swiftSettings: strict),
    .testTarget(
      name: "pushcliTests",
      dependencies: [
        "pushcli", "GatewayClient", "GatewayProtocol", "LoadTest", "PushCore", "PushGateway", "PushPolicy",
        "PushTesting",
        "Queues", "TerminalTesting", "TerminalUI", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      exclude: ["Phone/Screens"],
      swiftSettings: strict
    ),
    scale,
    fuzz,
  ] + (isSanitizing ? [.target(name: "CWatchedMutex", path: "Tests/Sanitize/CWatchedMutex")] : []),
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
