// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The settings of the SDK, as in its own package: apps build it with Swift 6.0 too.
let clientSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of every other target. The last feature needs Swift 6.2.
let settings = clientSettings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

// Dependencies by product, so that each target's list below reads as the import table of docs/architecture.md.
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let metricsCore = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHTTPTypesHTTP2 = Target.Dependency.product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let rawStructuredFieldValues = Target.Dependency.product(
    name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
let securePushClient = Target.Dependency.product(name: "SecurePushClient", package: "Swift")
let securePushEnvelope = Target.Dependency.product(name: "SecurePushEnvelope", package: "Swift")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let serviceLifecycleTestKit = Target.Dependency.product(
    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

/// The git revision that every program tells, from `SECUREPUSH_REVISION`, which the Makefile sets. SwiftPM's own
/// `Context.gitInformation` would be a commit of some earlier build: it keeps a manifest's result until the manifest or
/// the environment changes.
let revision = (Context.environment["SECUREPUSH_REVISION"] ?? "")
    .filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }.prefix(64)

/// The dependencies of our dependencies. No target here imports them. They are listed because SwiftPM warns of pinned
/// packages that no target uses.
let pinned: [Target.Dependency] = [
    ("Algorithms", "swift-algorithms"), ("AsyncAlgorithms", "swift-async-algorithms"), ("Atomics", "swift-atomics"),
    ("Configuration", "swift-configuration"),
    ("NIOTransportServices", "swift-nio-transport-services"), ("Numerics", "swift-numerics"),
    ("ServiceContextModule", "swift-service-context"), ("SystemPackage", "swift-system"),
].map { .product(name: $0.0, package: $0.1, condition: .when(platforms: [.custom("none")])) }

let package = Package(
    name: "securepush",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "ingest", targets: ["Ingest"]),
        .executable(name: "dispatcher", targets: ["Dispatcher"]),
        .executable(name: "retrieval", targets: ["Retrieval"]),
        .executable(name: "hub-emulator", targets: ["HubEmulator"]),
        .executable(name: "securepush", targets: ["SecurePushCLI"]),
    ],
    dependencies: [
        // The SDK for devices, a package of its own: the devices of `securepush` and of the chaos test are apps of it.
        .package(path: "Clients/Swift"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-structured-headers.git", exact: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
        // Their dependencies, pinned too: nothing here imports them.
        .package(url: "https://github.com/apple/swift-algorithms.git", exact: "1.2.1"),
        .package(url: "https://github.com/apple/swift-async-algorithms.git", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-atomics.git", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", exact: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio-extras.git", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-transport-services.git", exact: "1.28.0"),
        .package(url: "https://github.com/apple/swift-numerics.git", exact: "1.1.1"),
        .package(url: "https://github.com/apple/swift-service-context.git", exact: "1.5.1"),
        .package(url: "https://github.com/apple/swift-system.git", exact: "1.8.1"),
    ],
    targets: [
        // Text, JSON, time, files and errors; they know nothing of SecurePush.
        .target(
            name: "Foundations", dependencies: [deque, logging, tracing], path: "Shared/Foundations",
            swiftSettings: settings),
        // The domain: no NIO, no HTTP, no C, no files.
        .target(
            name: "Domain", dependencies: ["Foundations", crypto, logging, tracing], path: "Shared/Domain",
            swiftSettings: settings),

        // Wrappers of C libraries; they know AMQP and SQL, not push.
        .systemLibrary(
            name: "CRabbitMQ", path: "Shared/CRabbitMQ", pkgConfig: "librabbitmq",
            providers: [.apt(["librabbitmq-dev"]), .brew(["rabbitmq-c"])]),
        .systemLibrary(
            name: "CLibPQ", path: "Shared/CLibPQ", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "ThreadExecutor", dependencies: pinned, path: "Shared/ThreadExecutor", swiftSettings: settings),
        .target(
            name: "AMQP", dependencies: ["CRabbitMQ", "ThreadExecutor", deque, logging, metrics, serviceLifecycle],
            path: "Shared/AMQP", swiftSettings: settings),
        .target(
            name: "Postgres", dependencies: ["CLibPQ", "ThreadExecutor", deque, logging, metrics, serviceLifecycle],
            path: "Shared/Postgres", swiftSettings: settings),

        // What Swift's Glibc module leaves out: settings of malloc and the process.
        .systemLibrary(name: "CGlibc", path: "Shared/CGlibc"),

        // The git revision: another one compiles this target alone.
        .target(
            name: "CBuildInformation", path: "Shared/CBuildInformation",
            cSettings: [.define("SECUREPUSH_REVISION", to: revision.isEmpty ? "\"unknown\"" : "\"\(revision)\"")]),

        // Settings: keys, parsing, and all mistakes at once.
        .target(
            name: "ServiceConfiguration", dependencies: ["Domain", "Foundations", logging],
            path: "Shared/ServiceConfiguration", swiftSettings: settings),

        // The proxies and authorities of connections to other servers, and their settings.
        .target(
            name: "OutgoingHTTP",
            dependencies: ["Foundations", "ServiceConfiguration", asyncHTTPClient, nioCore, nioSSL],
            path: "Shared/OutgoingHTTP", swiftSettings: settings),

        // Adapters of the domain's ports; they never import each other.
        .target(
            name: "Storage",
            dependencies: [
                "Domain", "Foundations", "ServiceConfiguration", "Postgres", grdb, logging, metrics, serviceLifecycle,
            ], path: "Shared/Storage", swiftSettings: settings),
        .target(
            name: "Messaging",
            dependencies: [
                "Domain", "Foundations", "ServiceConfiguration", "AMQP", logging, metrics, serviceLifecycle, tracing,
            ], path: "Shared/Messaging", swiftSettings: settings),
        .target(
            name: "NotificationHubs",
            dependencies: [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", asyncHTTPClient, crypto, deque,
                logging,
                metrics, nioCore,
                nioHTTP1, nioPosix, nioSSL, nioTLS, serviceLifecycle, tracing,
            ], path: "Shared/NotificationHubs", swiftSettings: settings),
        .target(
            name: "Authentication",
            dependencies: [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", asyncHTTPClient, crypto, cryptoExtras,
                jwtKit,
                logging,
                metrics, nioCore, nioHTTP1, nioPosix,
            ], path: "Shared/Authentication", swiftSettings: settings),
        .target(
            name: "ServiceRuntime",
            dependencies: [
                "CBuildInformation", "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration",
                .target(name: "CGlibc", condition: .when(platforms: [.linux])), asyncHTTPClient, httpTypes, hummingbird,
                hummingbirdCore, hummingbirdTLS,
                logging,
                metrics, metricsCore, nioCore, nioHTTP1, nioHTTP2, nioHTTPTypesHTTP2, nioPosix, nioSSL,
                serviceLifecycle, tracing, unixSignals,
            ], path: "Shared/ServiceRuntime", resources: [.embedInCode("OpenAPI/common.json")],
            swiftSettings: settings),

        // The services; they never import each other.
        .executableTarget(
            name: "Ingest",
            dependencies: [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "ServiceRuntime", "Authentication",
                "Storage",
                "Messaging",
                asyncHTTPClient, httpTypes, hummingbird, logging, metrics, mustache, nioCore, nioHTTP1, nioPosix,
                rawStructuredFieldValues, serviceLifecycle,
            ], path: "Services/Ingest",
            resources: [.embedInCode("OpenAPI/ingest.json"), .embedInCode("Admin/Page")], swiftSettings: settings),
        .executableTarget(
            name: "Dispatcher",
            dependencies: [
                "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Storage", "Messaging",
                "NotificationHubs",
                deque, hummingbird, logging, metrics, serviceLifecycle, tracing,
            ], path: "Services/Dispatcher", swiftSettings: settings),
        .executableTarget(
            name: "Retrieval",
            dependencies: [
                "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication", "Storage",
                "NotificationHubs", httpTypes,
                hummingbird, logging, metrics, nioCore, serviceLifecycle,
            ], path: "Services/Retrieval", resources: [.embedInCode("OpenAPI/retrieval.json")],
            swiftSettings: settings),
        .executableTarget(
            name: "HubEmulator",
            dependencies: [
                "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", crypto, deque, grdb, httpTypes,
                hummingbird,
                logging, nioCore, nioHTTP1, serviceLifecycle,
            ], path: "Services/HubEmulator", resources: [.embedInCode("Page")], swiftSettings: settings),
        .executableTarget(
            name: "SecurePushCLI",
            dependencies: [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "ServiceRuntime", "Authentication",
                "Storage",
                "Messaging",
                "AMQP", "NotificationHubs", argumentParser, asn1, asyncHTTPClient, crypto, histogram, logging, nioCore,
                nioHTTP1, nioPosix, nioSSL, securePushClient, securePushEnvelope, serviceLifecycle, unixSignals, x509,
            ], path: "Services/SecurePushCLI", swiftSettings: settings),

        // Private servers, processes and secrets, for the tests here and for the tools in Tools/.
        .target(
            name: "StackKit", dependencies: ["Domain", "Foundations", asyncHTTPClient, crypto, nioCore, nioHTTP1],
            path: "Tools/StackKit", swiftSettings: settings),

        // Tests.
        .target(
            name: "TestSupport",
            dependencies: ["Domain", "Foundations", "Storage", "StackKit", logging, nioCore, nioPosix, tracing],
            path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "APITestSupport", dependencies: ["TestSupport", httpTypes, hummingbirdTesting, nioCore],
            path: "Tests/APITestSupport", swiftSettings: settings),
        .testTarget(
            name: "FoundationsTests", dependencies: ["Foundations", "StackKit", "TestSupport", logging, tracing],
            path: "Tests/FoundationsTests", swiftSettings: settings),
        .testTarget(
            name: "DomainTests", dependencies: ["Domain", "Foundations", "StackKit", "TestSupport", crypto, tracing],
            path: "Tests/DomainTests", swiftSettings: settings),
        .testTarget(
            name: "ThreadExecutorTests", dependencies: ["ThreadExecutor", "StackKit", "TestSupport"],
            path: "Tests/ThreadExecutorTests", swiftSettings: settings),
        .testTarget(
            name: "AMQPTests",
            dependencies: ["AMQP", "StackKit", "TestSupport", logging, serviceLifecycle, serviceLifecycleTestKit],
            path: "Tests/AMQPTests", swiftSettings: settings),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["Postgres", "StackKit", "TestSupport", logging, serviceLifecycle],
            path: "Tests/PostgresTests", swiftSettings: settings),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Domain", "Foundations", "Storage", "Postgres", "StackKit", "TestSupport", grdb, logging,
                serviceLifecycle,
            ], path: "Tests/StorageTests", swiftSettings: settings),
        .testTarget(
            name: "MessagingTests",
            dependencies: [
                "Domain", "Foundations", "Messaging", "AMQP", "StackKit", "TestSupport", logging, serviceLifecycle,
                tracing,
            ],
            path: "Tests/MessagingTests", swiftSettings: settings),
        .testTarget(
            name: "NotificationHubsTests",
            dependencies: [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "NotificationHubs", "StackKit",
                "TestSupport",
                crypto,
                logging, nioCore, nioHTTP1, nioPosix, nioSSL, serviceLifecycle, tracing,
            ], path: "Tests/NotificationHubsTests", swiftSettings: settings),
        .testTarget(
            name: "AuthenticationTests",
            dependencies: [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "Authentication", "StackKit",
                "TestSupport",
                crypto,
                cryptoExtras, hummingbird, hummingbirdTesting, jwtKit, logging, serviceLifecycle,
            ], path: "Tests/AuthenticationTests", swiftSettings: settings),
        .testTarget(
            name: "ServiceRuntimeTests",
            dependencies: [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "ServiceRuntime", "StackKit",
                "TestSupport",
                hummingbird,
                hummingbirdTesting,
                httpTypes, logging, metrics, metricsCore, nioCore, nioEmbedded, nioHTTP1, nioPosix, nioSSL,
                serviceLifecycle, serviceLifecycleTestKit, tracing, unixSignals,
            ], path: "Tests/ServiceRuntimeTests", swiftSettings: settings),
        .testTarget(
            name: "IngestTests",
            dependencies: [
                "Ingest", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication",
                "Storage",
                "Messaging", "AMQP", "APITestSupport", "StackKit", "TestSupport", crypto,
                hummingbird, hummingbirdTesting, logging, serviceLifecycle,
            ], path: "Tests/IngestTests", swiftSettings: settings),
        .testTarget(
            name: "DispatcherTests",
            dependencies: [
                "Dispatcher", "Domain", "Foundations", "Storage", "NotificationHubs", "StackKit", "TestSupport", grdb,
                logging,
                serviceLifecycle, tracing,
            ], path: "Tests/DispatcherTests", swiftSettings: settings),
        .testTarget(
            name: "RetrievalTests",
            dependencies: [
                "Retrieval", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication",
                "Storage",
                "NotificationHubs",
                "APITestSupport", "StackKit", "TestSupport", crypto, hummingbird, hummingbirdTesting, logging,
                serviceLifecycle,
            ], path: "Tests/RetrievalTests", swiftSettings: settings),
        .testTarget(
            name: "HubEmulatorTests",
            dependencies: [
                "HubEmulator", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "StackKit",
                "TestSupport",
                asyncHTTPClient, crypto, httpTypes, hummingbird, hummingbirdTesting, logging, nioCore, nioHTTP1,
                nioPosix, serviceLifecycle,
            ], path: "Tests/HubEmulatorTests", swiftSettings: settings),
        .testTarget(
            name: "SecurePushCLITests",
            dependencies: [
                "SecurePushCLI", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication",
                "Storage", "Messaging", "AMQP", "StackKit", "TestSupport", argumentParser, asyncHTTPClient, logging,
                securePushClient,
                securePushEnvelope,
            ], path: "Tests/SecurePushCLITests", swiftSettings: settings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Domain", "Foundations", "AMQP", "StackKit", "TestSupport", asyncHTTPClient, crypto, grdb, httpTypes,
                hummingbird, logging, nioCore, nioHTTP1, securePushEnvelope,
            ], path: "Tests/EndToEndTests", swiftSettings: settings),
        .testTarget(
            name: "ExamplesTests", dependencies: ["StackKit", "TestSupport"], path: "Tests/ExamplesTests",
            swiftSettings: settings),
        .testTarget(
            name: "DocumentTests", dependencies: ["StackKit", "TestSupport"], path: "Tests/DocumentTests",
            swiftSettings: settings),
        // The SDK's tests, which its own package has too: here they need no second build.
        .testTarget(
            name: "SecurePushEnvelopeTests", dependencies: [securePushEnvelope, crypto],
            path: "Clients/Swift/Tests/SecurePushEnvelopeTests", swiftSettings: clientSettings),
        .testTarget(
            name: "SecurePushClientTests", dependencies: [securePushClient, securePushEnvelope, crypto],
            path: "Clients/Swift/Tests/SecurePushClientTests", swiftSettings: clientSettings),
        .testTarget(
            name: "FaultTableTests", dependencies: [securePushClient, securePushEnvelope, crypto],
            path: "Clients/Swift/Tests/FaultTableTests", swiftSettings: clientSettings),
        .testTarget(
            name: "TidyTests", dependencies: ["TestSupport"], path: "Tests/TidyTests", swiftSettings: settings),
    ]
)

// The tools in Tools/. `make tools` and `make test` ask for them; otherwise `swift build` compiles the five programs.
if Context.environment["SECUREPUSH_TOOLS"] != nil {
    func tool(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
        .executableTarget(name: name, dependencies: dependencies, path: "Tools/\(path)", swiftSettings: settings)
    }
    package.products += [
        .executable(name: "chaos", targets: ["Chaos"]), .executable(name: "vectors", targets: ["Vectors"]),
        .executable(name: "benchmark-seed", targets: ["BenchmarkSeed"]),
    ]
    package.targets += [
        // Fills the store and declares the queues before a measurement; see docs/explanation/benchmarks.md.
        tool("BenchmarkSeed", "Seed", ["Domain", "Foundations", "Storage", "Messaging", logging, serviceLifecycle]),

        // Writes the test vectors of the SDKs; see Clients/vectors/README.md.
        tool("Vectors", "Vectors", ["Domain", "Foundations", "NotificationHubs", securePushEnvelope]),
        .testTarget(
            name: "VectorsTests", dependencies: ["Vectors", "Foundations"], path: "Tools/Tests/VectorsTests",
            swiftSettings: settings),

        // Breaks a stack by a seeded plan, and judges the history; see docs/explanation/chaos-testing.md.
        .target(
            name: "ChaosChecker", dependencies: ["StackKit"], path: "Tools/ChaosChecker", swiftSettings: settings),
        tool(
            "Chaos", "Chaos",
            [
                "ChaosChecker", "Domain", "Foundations", "Storage", "Messaging", "AMQP", "StackKit", securePushClient,
                argumentParser, logging, nioCore, nioHTTP1, serviceLifecycle,
            ]),
        .testTarget(
            name: "ChaosTests", dependencies: ["ChaosChecker", "StackKit"], path: "Tools/Tests/ChaosTests",
            swiftSettings: settings),
    ]
}

// `make bench` counts the instructions of hot paths in a release build, also of what a module keeps to itself. So these
// builds are testable, and the services are libraries without the program's entry point. They have a folder of their
// own: see scripts/bench.sh.
if Context.environment["SECUREPUSH_BENCHMARKS"] != nil {
    let services = ["Ingest", "Dispatcher", "Retrieval"]
    package.targets = package.targets.map { target in
        guard !target.isTest, target.type == .regular || target.type == .executable else { return target }
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-enable-testing"])]
        guard services.contains(target.name) else { return target }
        let entry = ["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "\(target.name)_main"]
        return .target(
            name: target.name, dependencies: target.dependencies, path: target.path, resources: target.resources,
            swiftSettings: (target.swiftSettings ?? []) + [.unsafeFlags(entry)])
    }
    package.targets.append(
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "AMQP", "Authentication", "CLibPQ", "Dispatcher", "Ingest", "Messaging", "NotificationHubs", "Postgres",
                "Retrieval", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "StackKit", "Storage",
                crypto,
                httpTypes, hummingbird, logging, metrics, nioCore,
            ], path: "Tools/Benchmarks", exclude: ["measure.py", "thresholds.json"], swiftSettings: settings))
    package.products = [.executable(name: "micro-benchmarks", targets: ["Benchmarks"])]
}

// The image is built from Package.swift, Clients/Swift, Shared and Services alone.
if !FileManager.default.fileExists(atPath: Context.packageDirectory + "/Tests") {
    package.targets.removeAll { $0.type == .test || ["TestSupport", "APITestSupport", "StackKit"].contains($0.name) }
}

// A short edit-and-test round on a small machine: TEST_TARGETS=IngestTests,TidyTests compiles only those test targets.
if let chosen = Context.environment["TEST_TARGETS"] {
    let names = chosen.split(separator: ",").map(String.init)
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
