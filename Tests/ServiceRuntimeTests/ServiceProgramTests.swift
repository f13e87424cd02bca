import Logging
import ServiceLifecycle
import Testing

@testable import ServiceConfiguration
@testable import ServiceRuntime

@Suite("What a start of a service leads to")
struct ServiceProgramTests {
    private enum Sample: ServiceProgram {
        static let name = "sample"
        static let summary = "Takes notifications."
        static let isTraced = false

        static func read(_ reader: inout ConfigurationReader) -> HTTPConfiguration? {
            _ = reader[\.amqpURL]
            return HTTPConfiguration.read(&reader, defaultPort: 8080)
        }

        static func build(_ configuration: HTTPConfiguration, context: ServiceContext) -> [any Service] { [] }
    }

    private enum Traced: ServiceProgram {
        static let name = "traced"
        static let summary = ""

        static func read(_ reader: inout ConfigurationReader) -> String? { reader[\.httpHost] }
        static func build(_ configuration: String, context: ServiceContext) -> [any Service] { [] }
    }

    @Test func `Flags win over the environment`() throws {
        let settings = try Sample.settings(
            flags: ["HTTP_PORT": "0"], environment: ["HTTP_PORT": "1", "LOG_LEVEL": "debug"])
        #expect(settings.own == HTTPConfiguration(host: "127.0.0.1", port: 0))
        #expect(settings.logging.level == .debug && !settings.logging.logsAccess && settings.tracing == nil)
    }

    @Test func `A secret in a flag is a warning`() throws {
        let settings = try Sample.settings(flags: ["AMQP_URL": "amqp://u:hunter2@127.0.0.1"], environment: [:])
        #expect(settings.warnings.map(\.key) == ["AMQP_URL"])
        #expect(!settings.warnings.contains { $0.problem.contains("hunter2") })
    }

    /// A service that makes no spans ignores the variable, which others on the machine may use.
    @Test func `A service is traced if it makes spans`() throws {
        let environment = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "ACCESS_LOG": "true"]
        let (sample, traced) = try (
            Sample.settings(flags: [:], environment: environment), Traced.settings(flags: [:], environment: environment)
        )
        #expect(sample.tracing == nil && sample.logging.logsAccess)
        #expect(traced.tracing != nil && traced.logging.logsAccess)
        #expect(Traced.keys.contains { $0.name == "OTEL_EXPORTER_OTLP_ENDPOINT" })
        #expect(!Sample.keys.contains { $0.name == "OTEL_EXPORTER_OTLP_ENDPOINT" })
    }

    @Test func `Each issue of the settings is a line, and the code is 78`() throws {
        let environment = ["HTTP_PORT": "x", "LOG_FORMAT": "xml", "TLS_CERTIFICATE_FILE": "/nonexistent"]
        let error = try #require(throws: ConfigurationError.self) {
            try Sample.settings(flags: [:], environment: environment)
        }
        let (lines, code) = ServiceFailure.report(error)
        #expect(code == 78)
        #expect(
            lines == [
                #"error: HTTP_PORT: "x" is not a whole number from 0 to 65535"#,
                "error: TLS_PRIVATE_KEY_FILE: is needed, since TLS_CERTIFICATE_FILE is set",
                #"error: TLS_CERTIFICATE_FILE: "/nonexistent" names a file that does not exist"#,
                #"error: LOG_FORMAT: "xml" is none of: text, json"#,
            ])
    }

    @Test func `Incomplete settings are refused`() {
        let (lines, code) = ServiceFailure.report(ConfigurationError([]))
        #expect(code == 78 && lines == ["error: the configuration is incomplete"])
    }

    @Test(
        arguments: [
            ([:], HealthProbe(host: "127.0.0.1", port: 8080, usesTLS: false)),
            (["HTTP_HOST": "0.0.0.0", "HTTP_PORT": "9"], HealthProbe(host: "127.0.0.1", port: 9, usesTLS: false)),
            (["HTTP_HOST": "::"], HealthProbe(host: "::1", port: 8080, usesTLS: false)),
            (["TLS_CERTIFICATE_FILE": "/x"], HealthProbe(host: "127.0.0.1", port: 8080, usesTLS: true)),
        ] as [([String: String], HealthProbe)])
    func `The probe asks where the service listens`(environment: [String: String], expected: HealthProbe) throws {
        #expect(try Sample.probe(flags: [:], environment: environment) == expected)
    }

    @Test func `Port 0 has no probe`() {
        #expect(throws: ConfigurationError.self) { try Sample.probe(flags: ["HTTP_PORT": "0"], environment: [:]) }
    }

    @Test func `Keys are listed once, with those of logging at the end`() {
        #expect(Traced.keys.first?.name == "HTTP_HOST")
        #expect(Sample.keys.suffix(3).map(\.name) == ["LOG_LEVEL", "LOG_FORMAT", "ACCESS_LOG"])
        #expect(Set(Sample.keys.map(\.name)).count == Sample.keys.count)
    }
}
