import Foundation
import ServiceConfiguration
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct ConfigShowTests {
    private typealias Show = ConfigCommand.Show

    private func entry(_ key: String, _ environment: [String: String], _ service: ConfigService? = nil) throws
        -> ConfigEntry
    {
        try #require(Show.settings(of: service, environment).entries.first { $0.key == key })
    }

    @Test func `Value and origin`() throws {
        let environment = ["HTTP_PORT": "9999", "HTTP_HOST": ""]
        let port = try entry("HTTP_PORT", environment, .ingest)
        #expect(port.value == "9999" && port.origin == .environment && port.problems.isEmpty)
        let host = try entry("HTTP_HOST", environment, .ingest)
        #expect(host.value == "127.0.0.1" && host.origin == .standard)
        #expect(try entry("HTTP_PORT", [:], .dispatcher).value == "8082")
        let retention = try entry("RETENTION", ["SECUREPUSH_RETENTION": "1d"], .ingest)
        #expect(retention.value == "1d" && retention.origin == .environment)
        #expect(retention.variable == "SECUREPUSH_RETENTION" && port.variable == "HTTP_PORT" && host.variable == nil)
        #expect(Show.lines([retention]).last?.contains("SECUREPUSH_RETENTION  1d") == true)
        let issuer = try entry("AUTH_ISSUER", environment)
        #expect(issuer.value == nil && issuer.origin == .none)
    }

    @Test(arguments: ConfigService.allCases.map { Optional($0) } + [nil])
    func `No secret is shown, usable or not`(service: ConfigService?) throws {
        let secret = "s3cr3t-9f3c"
        for environment in [
            [
                "DATABASE_URL": "postgres://u:\(secret)@db/name", "AMQP_URL": "amqp://u:\(secret)@mq/",
                "HUB_CONNECTION_STRING":
                    "Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=\(secret)",
                "HTTPS_PROXY": "http://u:\(secret)@proxy:3128", "http_proxy": "http://u:\(secret)@proxy:3128",
            ],
            ["DATABASE_URL": secret, "AMQP_URL": secret, "HUB_CONNECTION_STRING": secret],
        ] {
            let (entries, problems) = Show.settings(of: service, environment)
            let told = try Show.lines(entries) + problems + entries.map { try JSONCoding.encode($0) }
            for line in told { #expect(!line.contains(secret)) }
        }
        #expect(
            try entry("DATABASE_URL", ["DATABASE_URL": "postgres://u:\(secret)@db/name"]).value == "postgres://db")
        #expect(try entry("AMQP_URL", ["AMQP_URL": "amqp://u:\(secret)@mq/v"]).value == "amqp://mq")
    }

    @Test(arguments: ["u:SECRET@h:8082", "https:/u:SECRET@idp/k", "idp.example/k?sig=SECRET", "h:1,u:SECRET@h"])
    func `A URL without its scheme is hidden`(url: String) throws {
        for key in ["DISPATCHER_URL", "RETRIEVAL_URL", "AUTH_JWKS_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"] {
            let (entries, problems) = Show.settings(of: nil, [key: url])
            #expect(entries.first { $0.key == key }?.value == "(hidden)")
            for line in Show.lines(entries) + problems { #expect(!line.contains("SECRET")) }
        }
    }

    @Test func `What cannot be used is named, whichever service it is of`() throws {
        let environment = [
            "HTTP_PORT": "http", "RETENTION": "soon", "AMQP_URL": "http://x",
            "PAYLOAD_KEYS_FILE": "/nowhere/keys",
        ]
        let problems = Show.settings(of: nil, environment).problems
        for key in environment.keys { #expect(problems.contains { $0.hasPrefix(key + ": ") }, "\(key)") }
        #expect(problems.count == environment.count, "\(problems)")
        let delays = Show.settings(of: nil, ["RETRY_DELAYS": "1s,x"]).problems
        #expect(delays.count == 1 && delays.allSatisfy { $0.hasPrefix("RETRY_DELAYS: ") })
    }

    @Test func `What a service needs is a problem of that service only`() {
        #expect(Show.settings(of: nil, [:]).problems.isEmpty)
        let ingest = Show.settings(of: .ingest, [:]).problems
        #expect(ingest.map { $0.prefix { $0 != ":" } } == ["PAYLOAD_KEYS_FILE", "INGEST_API_KEYS_FILE"])
        let retrieval = Show.settings(of: .retrieval, [:]).problems
        #expect(retrieval.contains { $0.hasPrefix("AUTH_JWKS_FILE: ") })
        #expect(Show.settings(of: .dispatcher, [:]).problems.contains { $0.hasPrefix("HUB_NAME: ") })
    }

    /// The keys are those that are read on an empty environment, so none may be read only because another is set.
    @Test func `Every setting is one of a service`() {
        // The hub emulator's own, which `hub` reads too while it simulates a platform.
        let own: Set = ["EMULATOR_WEB_APP"]
        let read = Set(ConfigService.allCases.flatMap(\.keys).map(\.name))
        #expect(read.subtracting(own) == Set(ConfigurationKeys.all.map(\.name)))
        let optional = ["HUB_POOL_FILE", "HUB_CONNECTION_STRING_FILE", "HUB_NAME", "HUB_INSECURE_HOST", "SSL_CERT_DIR"]
        #expect(Set(optional).isSubset(of: ConfigService.retrieval.keys.map(\.name)))
    }
}
