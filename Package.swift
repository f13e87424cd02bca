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

func product(_ name: String, _ package: String) -> Target.Dependency { .product(name: name, package: package) }

// Dependencies by product, so that each target's list below reads as the import table of docs/architecture.md.
let asyncHTTPClient = product("AsyncHTTPClient", "async-http-client")
let argumentParser = product("ArgumentParser", "swift-argument-parser")
let asn1 = product("SwiftASN1", "swift-asn1")
let crypto = product("Crypto", "swift-crypto")
let cryptoExtras = product("CryptoExtras", "swift-crypto")
let deque = product("DequeModule", "swift-collections")
let grdb = product("GRDB", "GRDB.swift")
let histogram = product("Histogram", "hdrhistogram-swift")
let httpTypes = product("HTTPTypes", "swift-http-types")
let hummingbird = product("Hummingbird", "hummingbird")
let hummingbirdCore = product("HummingbirdCore", "hummingbird")
let hummingbirdTesting = product("HummingbirdTesting", "hummingbird")
let jwtKit = product("JWTKit", "jwt-kit")
let logging = product("Logging", "swift-log")
let metrics = product("Metrics", "swift-metrics")
let metricsCore = product("CoreMetrics", "swift-metrics")
let nioCore = product("NIOCore", "swift-nio")
let nioEmbedded = product("NIOEmbedded", "swift-nio")
let nioHPACK = product("NIOHPACK", "swift-nio-http2")
let nioHTTP1 = product("NIOHTTP1", "swift-nio")
let nioHTTP2 = product("NIOHTTP2", "swift-nio-http2")
let nioHTTPTypes = product("NIOHTTPTypes", "swift-nio-extras")
let nioHTTPTypesHTTP2 = product("NIOHTTPTypesHTTP2", "swift-nio-extras")
let nioPosix = product("NIOPosix", "swift-nio")
let nioTLS = product("NIOTLS", "swift-nio")
let nioSSL = product("NIOSSL", "swift-nio-ssl")
let rawStructuredFieldValues = product("RawStructuredFieldValues", "swift-http-structured-headers")
let securePushClient = product("SecurePushClient", "Swift")
let securePushEnvelope = product("SecurePushEnvelope", "Swift")
let serviceLifecycle = product("ServiceLifecycle", "swift-service-lifecycle")
let serviceLifecycleTestKit = product("ServiceLifecycleTestKit", "swift-service-lifecycle")
let tracing = product("Tracing", "swift-distributed-tracing")
let unixSignals = product("UnixSignals", "swift-service-lifecycle")
let x509 = product("X509", "swift-certificates")

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

/// A library.
func module(
    _ name: String, in folder: String = "Shared", _ dependencies: [Target.Dependency], resources: [Resource]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "\(folder)/\(name)", resources: resources, swiftSettings: settings
    )
}

func tests(_ name: String, in folder: String = "Tests", _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: "\(folder)/\(name)", swiftSettings: settings)
}

// Decision: docs/decisions/0029-package-access.md
// Decision: docs/decisions/0035-one-program.md
let package = Package(
    name: "securepush",
    platforms: [.macOS(.v15)],
    products: [
        // Every service too: `securepush serve NAME`, or by the name of a symbolic link; see scripts/links.sh.
        .executable(name: "securepush", targets: ["SecurePushCLI"])
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
        // Decision: docs/decisions/0028-modules-below-the-adapters.md
        module("Foundations", [crypto, deque, logging, tracing]),
        // The domain: no NIO, no HTTP, no C.
        module("Domain", ["Foundations", crypto, logging]),

        // Wrappers of C libraries; they know AMQP and SQL, not push.
        .systemLibrary(
            name: "CRabbitMQ", path: "Shared/CRabbitMQ", pkgConfig: "librabbitmq",
            providers: [.apt(["librabbitmq-dev"]), .brew(["rabbitmq-c"])]),
        .systemLibrary(
            name: "CLibPQ", path: "Shared/CLibPQ", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        module("ThreadExecutor", pinned),
        module("AMQP", ["CRabbitMQ", "ThreadExecutor", deque, logging, serviceLifecycle]),
        module("Postgres", ["CLibPQ", "ThreadExecutor", deque, logging, metrics, serviceLifecycle]),

        // What Swift's Glibc module leaves out: settings of malloc and the process.
        .systemLibrary(name: "CGlibc", path: "Shared/CGlibc"),

        // The git revision: another one compiles this target alone.
        .target(
            name: "CBuildInformation", path: "Shared/CBuildInformation",
            cSettings: [.define("SECUREPUSH_REVISION", to: revision.isEmpty ? "\"unknown\"" : "\"\(revision)\"")]),

        // Settings: keys, parsing, and all mistakes at once.
        module("ServiceConfiguration", ["Domain", "Foundations", logging]),

        // The proxies and authorities of connections to other servers, and their settings.
        module("OutgoingHTTP", ["Foundations", "ServiceConfiguration", asyncHTTPClient, nioCore, nioSSL]),

        // Adapters of the domain's ports; they never import each other.
        module(
            "Storage",
            ["Domain", "Foundations", "ServiceConfiguration", "Postgres", grdb, logging, serviceLifecycle]),
        module(
            "Messaging",
            ["Domain", "Foundations", "ServiceConfiguration", "AMQP", logging, serviceLifecycle, tracing]),
        module(
            "NotificationHubs",
            [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", asyncHTTPClient, crypto, deque,
                logging, metrics, nioCore, nioHTTP1, nioPosix, nioSSL, nioTLS, serviceLifecycle, tracing,
            ]),
        module(
            "PushServices",
            [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", asyncHTTPClient, crypto, cryptoExtras,
                deque, logging, metrics, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL, nioTLS, tracing,
            ]),
        module(
            "Authentication",
            [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", asyncHTTPClient, crypto, cryptoExtras,
                jwtKit, logging, metrics, nioCore, nioHTTP1, nioPosix,
            ]),
        module(
            "ServiceRuntime",
            [
                "CBuildInformation", "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration",
                .target(name: "CGlibc", condition: .when(platforms: [.linux])), asyncHTTPClient, httpTypes, hummingbird,
                hummingbirdCore, logging, metricsCore, nioCore, nioHTTP1, nioHTTP2, nioHTTPTypes, nioHTTPTypesHTTP2,
                nioPosix, nioSSL, nioTLS, serviceLifecycle, tracing, unixSignals,
            ], resources: [.embedInCode("OpenAPI/common.json"), .embedInCode("Page/dom.js")]),

        // The services; they never import each other.
        module(
            "Ingest", in: "Services",
            [
                "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication", "Storage",
                "Messaging", httpTypes, hummingbird, logging, metrics, nioCore, rawStructuredFieldValues,
                serviceLifecycle,
            ], resources: [.embedInCode("OpenAPI/ingest.json")]),
        module(
            "Operator", in: "Services",
            [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "ServiceRuntime", "Authentication",
                "Storage", "Messaging", asyncHTTPClient, crypto, httpTypes, hummingbird, logging, nioCore, nioHTTP1,
                nioPosix, serviceLifecycle,
            ], resources: [.embedInCode("Page")]),
        module(
            "Dispatcher", in: "Services",
            [
                "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Storage", "Messaging",
                "NotificationHubs", deque, hummingbird, logging, metrics, serviceLifecycle, tracing,
            ]),
        module(
            "Retrieval", in: "Services",
            [
                "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication", "Storage",
                "NotificationHubs", httpTypes, hummingbird, logging, metrics, nioCore, serviceLifecycle,
            ], resources: [.embedInCode("OpenAPI/retrieval.json")]),
        module(
            "Hub", in: "Services",
            [
                "Domain", "Foundations", "OutgoingHTTP", "PushServices", "ServiceConfiguration", "ServiceRuntime",
                "Storage", crypto, deque, httpTypes, hummingbird, logging, metrics, nioCore, nioHTTP1,
                serviceLifecycle, tracing,
            ], resources: [.embedInCode("Page")]),
        // The one program: the command line and every service.
        .executableTarget(
            name: "SecurePushCLI",
            dependencies: [
                "Ingest", "Dispatcher", "Retrieval", "Operator", "Hub", "Domain", "Foundations", "OutgoingHTTP",
                "ServiceConfiguration", "ServiceRuntime", "Authentication", "Storage", "Messaging", "AMQP",
                "NotificationHubs", argumentParser, asn1, asyncHTTPClient, crypto, histogram, logging, nioCore,
                nioHTTP1, nioPosix, nioSSL, securePushClient, securePushEnvelope, serviceLifecycle, unixSignals, x509,
            ], path: "Services/SecurePushCLI", swiftSettings: settings),

        // Private servers, processes and secrets, for the tests here and for the tools in Tools/.
        module("StackKit", in: "Tools", ["Domain", "Foundations", asyncHTTPClient, crypto, nioCore, nioHTTP1]),

        // Tests.
        module(
            "TestSupport", in: "Tests",
            ["Domain", "Foundations", "Storage", "StackKit", logging, nioCore, nioPosix, tracing]),
        module(
            "APITestSupport", in: "Tests",
            ["Domain", "Foundations", "TestSupport", httpTypes, hummingbirdTesting, nioCore, nioPosix]),
        tests("FoundationsTests", ["Foundations", "TestSupport", logging, tracing]),
        tests("DomainTests", ["Domain", "Foundations", "StackKit", "TestSupport", crypto, logging]),
        tests("ThreadExecutorTests", ["ThreadExecutor", "StackKit", "TestSupport"]),
        tests("AMQPTests", ["AMQP", "StackKit", "TestSupport", logging, serviceLifecycle, serviceLifecycleTestKit]),
        tests("PostgresTests", ["Postgres", "StackKit", "TestSupport", logging]),
        tests(
            "StorageTests",
            [
                "Domain", "Foundations", "Storage", "Postgres", "StackKit", "TestSupport", grdb, logging,
                serviceLifecycle,
            ]),
        tests(
            "MessagingTests",
            ["Domain", "Foundations", "Messaging", "AMQP", "StackKit", "TestSupport", logging, tracing]),
        tests(
            "NotificationHubsTests",
            [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "NotificationHubs", "StackKit",
                "TestSupport", logging, nioCore, nioPosix, nioSSL, serviceLifecycle, tracing,
            ]),
        tests(
            "AuthenticationTests",
            [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "Authentication", "StackKit",
                "TestSupport", crypto, cryptoExtras, hummingbird, jwtKit, logging, serviceLifecycle,
            ]),
        tests(
            "ServiceRuntimeTests",
            [
                "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "ServiceRuntime", "StackKit",
                "TestSupport", hummingbird, hummingbirdCore, hummingbirdTesting, httpTypes, logging, metricsCore,
                nioCore, nioEmbedded, nioHTTP1, nioPosix, nioSSL, serviceLifecycle, serviceLifecycleTestKit, tracing,
                unixSignals,
            ]),
        tests(
            "IngestTests",
            [
                "Ingest", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication",
                "Storage", "Messaging", "AMQP", "APITestSupport", "StackKit", "TestSupport", httpTypes, hummingbird,
                hummingbirdCore, hummingbirdTesting, logging, nioCore, serviceLifecycle,
            ]),
        tests(
            "OperatorTests",
            [
                "Operator", "Domain", "Foundations", "OutgoingHTTP", "ServiceConfiguration", "ServiceRuntime",
                "Authentication", "Storage", "APITestSupport", "StackKit", "TestSupport", httpTypes, hummingbird,
                hummingbirdTesting, logging, nioCore, serviceLifecycle,
            ]),
        tests(
            "DispatcherTests",
            [
                "Dispatcher", "Domain", "Foundations", "Storage", "StackKit", "TestSupport", grdb, logging,
                serviceLifecycle, tracing,
            ]),
        tests(
            "RetrievalTests",
            [
                "Retrieval", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication",
                "Storage", "APITestSupport", "StackKit", "TestSupport", httpTypes, hummingbird, hummingbirdTesting,
                logging, nioCore, serviceLifecycle,
            ]),
        tests(
            "PushServicesTests",
            [
                "Domain", "Foundations", "OutgoingHTTP", "PushServices", "ServiceConfiguration", "StackKit",
                "TestSupport", crypto, cryptoExtras, logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL,
                nioTLS,
            ]),
        tests(
            "HubTests",
            [
                "Hub", "Domain", "Foundations", "OutgoingHTTP", "Postgres", "PushServices", "ServiceConfiguration",
                "ServiceRuntime", "Storage", "StackKit", "TestSupport", asyncHTTPClient, crypto, cryptoExtras,
                httpTypes, hummingbird, hummingbirdTesting, logging, nioCore, nioHTTP1, nioPosix, serviceLifecycle,
            ]),
        tests(
            "SecurePushCLITests",
            [
                "SecurePushCLI", "Ingest", "Hub", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime",
                "Authentication", "Storage", "Messaging", "AMQP", "OutgoingHTTP", "StackKit", "TestSupport",
                argumentParser, asyncHTTPClient, securePushClient, securePushEnvelope,
            ]),
        tests(
            "EndToEndTests",
            [
                "Domain", "Foundations", "AMQP", "StackKit", "TestSupport", crypto, grdb, httpTypes, hummingbird,
                logging, nioCore, nioHTTP1, nioPosix, securePushEnvelope,
            ]),
        tests("ExamplesTests", ["StackKit", "TestSupport"]),
        tests("DocumentTests", ["StackKit", "TestSupport"]),
        tests("TidyTests", ["StackKit", "TestSupport"]),
    ]
)

// The SDK's tests, which its own package has too: here they need no second build.
package.targets += ["SecurePushEnvelopeTests", "SecurePushClientTests", "FaultTableTests"].map { name in
    .testTarget(
        name: name, dependencies: [securePushClient, securePushEnvelope, crypto], path: "Clients/Swift/Tests/\(name)",
        swiftSettings: clientSettings)
}

// The tools in Tools/. `make tools` and `make test` ask for them; otherwise `swift build` compiles only the program.
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
        tool("Vectors", "Vectors", ["Domain", "Foundations", "NotificationHubs"]),
        tests("VectorsTests", in: "Tools/Tests", ["Vectors", "Foundations"]),

        // Breaks a stack by a seeded plan, and judges the history; see docs/explanation/chaos-testing.md.
        module("ChaosChecker", in: "Tools", ["StackKit"]),
        tool(
            "Chaos", "Chaos",
            [
                "ChaosChecker", "Domain", "Foundations", "Storage", "Messaging", "AMQP", "StackKit", securePushClient,
                argumentParser, crypto, cryptoExtras, logging, nioCore, nioHTTP1, serviceLifecycle,
            ]),
        tests("ChaosTests", in: "Tools/Tests", ["ChaosChecker", "StackKit"]),
    ]
}

// `make bench` counts the instructions of hot paths in a release build, also of what a module keeps to itself. So these
// builds are testable. They have a folder of their own: see scripts/bench.sh.
if Context.environment["SECUREPUSH_BENCHMARKS"] != nil {
    for target in package.targets where target.type == .regular {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-enable-testing"])]
    }
    package.targets.append(
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "AMQP", "Authentication", "CLibPQ", "Dispatcher", "Ingest", "Messaging", "NotificationHubs", "Postgres",
                "Retrieval", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "StackKit", "Storage",
                crypto, httpTypes, hummingbird, logging, metrics, nioCore,
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
