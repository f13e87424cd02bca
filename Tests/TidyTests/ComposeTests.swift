import Foundation
import TestSupport
import Testing

/// What each container of docker-compose.yml is given. `scripts/compose-check.sh` looks into running ones.
@Suite struct ComposeTests {
    /// A service of the file: its lines, by the names of their blocks.
    private struct Container {
        var lines: [Substring] = []

        /// The entries of a list or a map that is a member of the service, without comments.
        func block(_ name: String) -> [String] {
            guard let start = lines.firstIndex(where: { $0.hasPrefix("    \(name):") }) else { return [] }
            return lines[(start + 1)...].prefix { $0.hasPrefix("      ") }.map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            .filter { !$0.hasPrefix("#") }.map { $0.hasPrefix("- ") ? String($0.dropFirst(2)) : $0 }
        }

        /// `VOLUME:PATH` and `VOLUME:PATH:ro`.
        var volumes: Set<String> { Set(block("volumes")) }
        var networks: Set<String> { Set(block("networks")) }
        var environment: [String] { block("environment") }
    }

    private static func text() throws -> String {
        try String(contentsOf: TestEnvironment.packageRoot.appending(path: "docker-compose.yml"), encoding: .utf8)
    }

    private static func containers() throws -> [String: Container] {
        var containers: [String: Container] = [:]
        var name: String?
        let services = try text().split(separator: "\nservices:\n")[1].split(separator: "\nnetworks:\n")[0]
        for line in services.split(separator: "\n") {
            if line.hasPrefix("  "), !line.hasPrefix("   "), line.hasSuffix(":"), !line.hasPrefix("  #") {
                name = String(line.dropFirst(2).dropLast())
            }
            if let name { containers[name, default: Container()].lines.append(line) }
        }
        return containers
    }

    private static let own = "/var/lib/securepush:ro"

    @Test func `Each container has its own files and no others`() throws {
        let containers = try Self.containers()
        let volumes: [String: Set<String>] = [
            "ingest": ["ingest:\(Self.own)"], "dispatcher": ["dispatcher:\(Self.own)"],
            "retrieval": ["retrieval:\(Self.own)"], "operator": ["operator:\(Self.own)"],
            "hub": ["hub:\(Self.own)"],
            "postgres": ["postgres:/var/lib/postgresql/data", "postgres-secrets:/run/securepush:ro"],
            "rabbitmq": ["rabbitmq:/var/lib/rabbitmq", "rabbitmq-secrets:/run/securepush:ro"],
            "setup": ["admin:/services/admin:ro"], "cli": ["state:/var/lib/securepush"],
        ]
        #expect(Set(containers.keys) == Set(volumes.keys).union(["secrets"]))
        for (name, expected) in volumes { #expect(containers[name]?.volumes == expected, "\(name)") }
        // It hands out the files, so it talks to nobody.
        let secrets = try #require(containers["secrets"])
        #expect(secrets.lines.contains("    network_mode: none") && secrets.networks.isEmpty)
    }

    /// Docker gives a tmpfs the mode of the folder that it covers, and root as its owner: a container of another user may
    /// not write there.
    @Test func `A tmpfs in a folder of the image has the user of its container as owner`() throws {
        let places = try Self.containers().values.flatMap { $0.block("tmpfs") }.filter { !$0.hasPrefix("/tmp") }
        #expect(!places.isEmpty)
        for place in places { #expect(place.hasSuffix(":uid=65532,gid=65532,mode=0700"), "\(place)") }
    }

    @Test func `Only those services reach the servers that use them`() throws {
        let containers = try Self.containers()
        let networks = containers.mapValues(\.networks)
        #expect(networks["ingest"] == ["edge", "database", "broker"])
        #expect(networks["dispatcher"] == ["edge", "database", "broker"])
        #expect(networks["retrieval"] == ["edge", "database"])
        #expect(networks["operator"] == ["edge", "database", "broker"])
        #expect(networks["hub"] == ["edge", "database"])
        #expect(networks["setup"] == ["database"])
        #expect(networks["postgres"] == ["database"] && networks["rabbitmq"] == ["broker"])
    }

    @Test func `No password is in the file`() throws {
        let text = try Self.text()
        for word in [
            "POSTGRES_PASSWORD:", "RABBITMQ_DEFAULT_PASS", "RABBITMQ_DEFAULT_USER", "AMQP_URL:", "DATABASE_URL:",
        ] {
            #expect(!text.contains(word), "\(word)")
        }
        // A URL with credentials.
        #expect(!text.contains(/[a-z]+:\/\/[^\s\/"]*:[^\s\/"]*@/))
    }

    /// Exact versions: a stack that worked yesterday works tomorrow. The chart and the components have the same ones.
    @Test func `Servers are pinned`() throws {
        let text = try Self.text()
        let images = Set(text.matches(of: /image: (\S+)/).map { String($0.1) })
        #expect(images == ["securepush:local", "rabbitmq:4.3.5", "postgres:17.11"])
        for (path, tag) in [
            ("deploy/helm/securepush/values.yaml", "rabbitmq:4.3.5-management"),
            ("deploy/helm/securepush/values.yaml", "postgresql:17.11-"),
            (".github/workflows/ci.yml", #"postgres: "17.11", rabbitmq: "4.3.5""#),
            (".github/workflows/ci.yml", "container: swift:6.3.1-bookworm"),
            ("deploy/Dockerfile", "ARG SWIFT_IMAGE=swift:6.3.1-bookworm"),
            ("deploy/Dockerfile", "ARG RUNTIME_IMAGE=debian:12.12-slim"),
        ] {
            let file = TestEnvironment.packageRoot.appending(path: path)
            #expect(try String(contentsOf: file, encoding: .utf8).contains(tag), "\(path) has no \(tag)")
        }
    }

    @Test func `No service may change the schema or the queues`() throws {
        let text = try Self.text()
        #expect(text.contains("DATABASE_MIGRATE: check") && text.contains("AMQP_DECLARE: check"))
        let services = ["ingest", "dispatcher", "retrieval", "operator", "hub"]
        for (name, container) in try Self.containers() where services.contains(name) {
            let merged = container.environment.joined()
            #expect(merged.contains("*database"), "\(name)")
            #expect(merged.contains("*tracing"), "\(name)")
            #expect(merged.contains("*broker") == !["retrieval", "hub"].contains(name), "\(name)")
            #expect(merged.contains("*hub") == ["dispatcher", "retrieval"].contains(name), "\(name)")
            #expect(merged.contains("PUSH_CREDENTIALS_FILE") == (name == "hub"), "\(name)")
            #expect(merged.contains("*users") == ["ingest", "retrieval"].contains(name), "\(name)")
            #expect(merged.contains("PAYLOAD_KEYS_FILE") == ["ingest", "retrieval"].contains(name), "\(name)")
            #expect(merged.contains("TOKEN_SIGNING_KEY") == (name == "retrieval"), "\(name)")
            #expect(merged.contains("ADMIN_PASSWORD_FILE") == (name == "operator"), "\(name)")
            #expect(merged.contains("ALLOW_INSECURE"), "\(name)")
        }
    }
}
