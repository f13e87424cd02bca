import Testing

/// The direction of imports, as docs/architecture.md draws it.
@Suite struct ImportTableTests {
    /// Modules of ours that each module may import; no module may import one that is not here.
    static let own: [String: Set<String>] = [
        "Clients/Swift": ["SecurePushEnvelope"],
        "Shared/Foundations": [],
        "Shared/Domain": ["Foundations"],
        "Shared/ThreadExecutor": [],
        "Shared/AMQP": ["CRabbitMQ", "ThreadExecutor"],
        "Shared/Postgres": ["CLibPQ", "ThreadExecutor"],
        "Shared/ServiceConfiguration": ["Domain", "Foundations"],
        "Shared/OutgoingHTTP": ["Foundations", "ServiceConfiguration"],
        "Shared/Storage": ["Domain", "Foundations", "ServiceConfiguration", "Postgres"],
        "Shared/Messaging": ["Domain", "Foundations", "ServiceConfiguration", "AMQP"],
        "Shared/NotificationHubs": ["Domain", "Foundations", "ServiceConfiguration", "OutgoingHTTP"],
        "Shared/PushServices": ["Domain", "Foundations", "ServiceConfiguration", "OutgoingHTTP"],
        "Shared/Authentication": ["Domain", "Foundations", "ServiceConfiguration", "OutgoingHTTP"],
        "Shared/ServiceRuntime": [
            "CBuildInformation", "CGlibc", "Domain", "Foundations", "ServiceConfiguration", "OutgoingHTTP",
        ],
        "Services/Ingest": [
            "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication", "Storage", "Messaging",
        ],
        "Services/Operator": [
            "Domain", "Foundations", "ServiceConfiguration", "OutgoingHTTP", "ServiceRuntime", "Authentication",
            "Storage", "Messaging",
        ],
        "Services/Dispatcher": [
            "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Storage", "Messaging",
            "NotificationHubs",
        ],
        "Services/Retrieval": [
            "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "Authentication", "Storage",
            "NotificationHubs",
        ],
        "Services/Hub": [
            "Domain", "Foundations", "OutgoingHTTP", "PushServices", "ServiceConfiguration", "ServiceRuntime",
            "Storage",
        ],
        // The one program: it runs every service.
        "Services/SecurePushCLI": [
            "Ingest", "Dispatcher", "Retrieval", "Operator", "Hub", "Domain", "Foundations",
            "ServiceConfiguration", "ServiceRuntime", "Authentication", "Storage", "Messaging",
            "AMQP", "NotificationHubs", "OutgoingHTTP", "SecurePushClient", "SecurePushEnvelope",
        ],
    ]

    /// Libraries that only some modules may import.
    static let reserved: [String: Set<String>] = [
        "CRabbitMQ": ["Shared/AMQP"],
        "CLibPQ": ["Shared/Postgres"],
        "CGlibc": ["Shared/ServiceRuntime"],
        "CBuildInformation": ["Shared/ServiceRuntime"],
        "GRDB": ["Shared/Storage"],
        "JWTKit": ["Shared/Authentication"],
        "CryptoExtras": ["Shared/PushServices", "Shared/Authentication"],
        "AsyncHTTPClient": [
            "Shared/OutgoingHTTP", "Shared/NotificationHubs", "Shared/PushServices", "Shared/Authentication",
            "Shared/ServiceRuntime", "Services/Operator", "Services/SecurePushCLI",
        ],
        "ArgumentParser": ["Services/SecurePushCLI"],
        "SwiftASN1": ["Services/SecurePushCLI"],
        "X509": ["Services/SecurePushCLI"],
        "Hummingbird": [
            "Shared/ServiceRuntime", "Services/Ingest", "Services/Retrieval", "Services/Dispatcher",
            "Services/Operator", "Services/Hub",
        ],
        "Configuration": [],
        "RawStructuredFieldValues": ["Services/Ingest"],
        "SecurePushClient": ["Services/SecurePushCLI", "Tools/Chaos"],
        "SecurePushEnvelope": ["Clients/Swift", "Services/SecurePushCLI", "Tools/Vectors"],
        "Testing": ["Tests/TestSupport"],
        "TestSupport": [],
    ]

    /// The tools see the services from outside; only what fills and reads the store and the queues imports them. The
    /// benchmarks measure the parts of all services.
    static let tools: [String: Set<String>] = [
        "Tools/StackKit": ["Domain", "Foundations"],
        "Tools/ChaosChecker": ["StackKit"],
        "Tools/Chaos": [
            "ChaosChecker", "SecurePushClient", "Domain", "Foundations", "Storage", "Messaging", "AMQP", "StackKit",
        ],
        "Tools/Benchmarks": [
            "AMQP", "Authentication", "CLibPQ", "Dispatcher", "Ingest", "Messaging", "NotificationHubs", "Postgres",
            "Retrieval", "Domain", "Foundations", "ServiceConfiguration", "ServiceRuntime", "StackKit", "Storage",
        ],
        "Tools/Seed": ["Domain", "Foundations", "Storage", "Messaging"],
        "Tools/Vectors": ["NotificationHubs", "Domain", "Foundations", "SecurePushEnvelope"],
    ]

    static let ownModules: Set<String> = Set(own.keys.map { String($0.split(separator: "/")[1]) })
        .subtracting(["Swift"]).union([
            "SecurePushClient", "SecurePushEnvelope", "CBuildInformation", "CRabbitMQ", "CLibPQ", "CGlibc",
            "TestSupport", "StackKit", "ChaosChecker",
        ])

    @Test func `Every module has its row`() {
        let headers: Set = ["Shared/CBuildInformation", "Shared/CRabbitMQ", "Shared/CLibPQ", "Shared/CGlibc"]
        let modules = Set(SourceFile.production.map(\.module)).subtracting(headers)
        #expect(modules == Set(Self.own.keys))
    }

    /// Errors of other modules are named by their type, because their texts can hold secrets.
    @Test func `The texts of our errors are shown`() throws {
        let file = try #require(SourceFile.production.first { $0.path == "Shared/Foundations/Text/ErrorText.swift" })
        let foreign: Set = [
            "CBuildInformation", "CRabbitMQ", "CLibPQ", "CGlibc", "TestSupport", "StackKit", "ChaosChecker",
        ]
        for module in Self.ownModules.subtracting(foreign) {
            #expect(file.lines.contains { $0.contains("\"\(module)\"") }, "\(module)")
        }
    }

    @Test(arguments: SourceFile.production)
    func `Imports go one way`(_ file: SourceFile) throws {
        let allowed = try #require(Self.own[file.module])
        for name in file.imports where Self.ownModules.contains(name) {
            #expect(allowed.contains(name), "\(file.path) must not import \(name)")
        }
    }

    @Test(arguments: SourceFile.all.filter { $0.path.hasPrefix("Tools/") && $0.module != "Tools/Tests" })
    func `Tools import what they need`(_ file: SourceFile) throws {
        let allowed = try #require(Self.tools[file.module], "\(file.module) is not in the import table")
        for name in file.imports where Self.ownModules.contains(name) {
            #expect(allowed.contains(name), "\(file.path) must not import \(name)")
        }
    }

    @Test(arguments: SourceFile.production)
    func `Libraries stay where they belong`(_ file: SourceFile) {
        for name in file.imports {
            guard let modules = Self.reserved[name] else { continue }
            #expect(modules.contains(file.module), "\(file.path) must not import \(name)")
        }
    }

    @Test(arguments: SourceFile.production.filter { ["Shared/Foundations", "Shared/Domain"].contains($0.module) })
    func `The domain knows no transport`(_ file: SourceFile) {
        for name in file.imports {
            #expect(!name.hasPrefix("NIO") && !name.hasPrefix("HTTP"), "\(file.path) must not import \(name)")
        }
    }
}
