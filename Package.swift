// swift-tools-version:6.2
import PackageDescription

/// Every Swift target states what it uses, says `unsafe` where it is, and compiles without a warning.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  // Debug builds and the tests check exclusive access at run time; it cost 6 % of what accepting a push costs.
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

let package = Package(
  name: "PushGateway",
  products: [
    .executable(name: "pushcli", targets: ["pushcli"])
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CNGHTTP2",
      providers: [.apt(["libnghttp2-dev", "libssl-dev"])]
    ),
    .target(
      name: "CSimdjson",
      linkerSettings: [.linkedLibrary("simdjson")]
    ),
    .target(name: "CAdModel", exclude: ["ad-model.bin"]),
    .target(
      name: "PushPolicy",
      dependencies: ["CAdModel", "CSimdjson"],
      // So that the compiler keeps a JSONElement from outliving its document.
      swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]
    ),
    .target(
      name: "PushGateway",
      dependencies: [
        "CNGHTTP2",
        "PushPolicy",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Yams", package: "Yams"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ],
      // So that the compiler keeps a field's bytes from outliving their message.
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
        "CSounds",
        "PushGateway",
        "PushPolicy",
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
    .testTarget(
      name: "PushGatewayTests",
      dependencies: [
        "PushGateway", "PushPolicy", "CFaultyDisk", .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    // A terminal for tests.
    .target(name: "TerminalTesting", path: "Tests/TerminalTesting", swiftSettings: strict),
    .testTarget(name: "QueuesTests", dependencies: ["Queues"], swiftSettings: strict),
    .testTarget(name: "TerminalUITests", dependencies: ["TerminalTesting", "TerminalUI"], swiftSettings: strict),
    .testTarget(
      name: "pushcliTests",
      dependencies: [
        "pushcli", "PushGateway", "PushPolicy", "Queues", "TerminalTesting", "TerminalUI",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      exclude: ["Phone/Screens"],
      swiftSettings: strict
    ),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
