// swift-tools-version: 6.2
import PackageDescription

/// As in the main package.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func module(_ name: String) -> Target.Dependency { .product(name: name, package: "securepush") }

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let securePushClient = Target.Dependency.product(name: "SecurePushClient", package: "Swift")
let securePushEnvelope = Target.Dependency.product(name: "SecurePushEnvelope", package: "Swift")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

// Build it with `make tools`: the main package offers its modules only while SECUREPUSH_TOOLS is set, and it pins every
// dependency, so that the versions here need not be exact.
let package = Package(
    name: "securepush-tools",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "chaos", targets: ["Chaos"]),
        .executable(name: "benchmark-seed", targets: ["BenchmarkSeed"]),
        .executable(name: "vectors", targets: ["Vectors"]),
    ],
    dependencies: [
        .package(name: "securepush", path: ".."),
        .package(path: "../Clients/Swift"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        // Fills the store and declares the queues before a measurement; see docs/explanation/benchmarks.md.
        .executableTarget(
            name: "BenchmarkSeed",
            dependencies: [
                module("SecurePushCore"), module("Storage"), module("Messaging"), logging, serviceLifecycle,
            ], path: "Seed", swiftSettings: settings),

        // Writes the test vectors of the SDKs; see Clients/vectors/README.md.
        .executableTarget(
            name: "Vectors",
            dependencies: [module("SecurePushCore"), module("NotificationHubs"), securePushEnvelope], path: "Vectors",
            swiftSettings: settings),
        .testTarget(
            name: "VectorsTests", dependencies: ["Vectors", module("SecurePushCore")], path: "Tests/VectorsTests",
            swiftSettings: settings),

        // Breaks a stack by a seeded plan, and judges the history; see docs/explanation/chaos-testing.md.
        .target(name: "ChaosChecker", path: "ChaosChecker", swiftSettings: settings),
        .executableTarget(
            name: "Chaos",
            dependencies: [
                "ChaosChecker", module("SecurePushCore"), module("Storage"), module("Messaging"), module("AMQP"),
                module("StackKit"), securePushClient,
                argumentParser, logging, nioCore, nioHTTP1, serviceLifecycle,
            ], path: "Chaos", swiftSettings: settings),
        .testTarget(
            name: "ChaosTests", dependencies: ["ChaosChecker", module("StackKit")], path: "Tests/ChaosTests",
            swiftSettings: settings),
    ]
)
