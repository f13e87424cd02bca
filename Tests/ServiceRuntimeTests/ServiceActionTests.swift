import Logging
import Testing

@testable import ServiceConfiguration
@testable import ServiceRuntime

@Suite("What a start of a service leads to")
struct ServiceActionTests {
    private let usage = ServiceUsage(name: "ingest", summary: "Takes notifications.") { reader in
        _ = HTTPConfiguration.read(&reader, defaultPort: 8080)
        _ = reader[\.payloadKeysFile]
    }

    private func decide(_ arguments: [String], _ environment: [String: String] = [:]) -> ServiceAction<
        HTTPConfiguration
    > {
        ServiceAction.decide(usage: usage, arguments: arguments, environment: environment) { reader in
            HTTPConfiguration.read(&reader, defaultPort: 8080)
        }
    }

    @Test func `A start without a command serves`() throws {
        let (http, logging, tracing) = try #require(decide(["--http-port", "0"], ["LOG_LEVEL": "debug"]).served)
        #expect(http == HTTPConfiguration(host: "127.0.0.1", port: 0))
        #expect(logging.level == .debug && !logging.logsAccess)
        #expect(tracing == nil)
    }

    @Test func `A secret in a flag is a warning`() throws {
        let usage = ServiceUsage(name: "ingest", summary: "x") { _ = $0[\.amqpURL] }
        let action = ServiceAction.decide(
            usage: usage, arguments: ["--amqp-url", "amqp://u:hunter2@127.0.0.1"], environment: [:]
        ) { reader in reader[\.amqpURL] as String? }
        let (_, logging, _) = try #require(action.served)
        #expect(logging.warnings.map(\.key) == ["AMQP_URL"])
        #expect(!logging.warnings.contains { $0.problem.contains("hunter2") })
    }

    /// A service that makes no spans ignores the variable, which others on the machine may use.
    @Test func `A service is traced if it makes spans`() throws {
        for isTraced in [false, true] {
            let usage = ServiceUsage(name: "x", summary: "", isTraced: isTraced) { _ = $0[\.httpHost] }
            #expect(usage.keys.contains { $0.name == "OTEL_EXPORTER_OTLP_ENDPOINT" } == isTraced)
            let action = ServiceAction.decide(
                usage: usage, arguments: [],
                environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "ACCESS_LOG": "true"]
            ) { $0[\.httpHost] as String? }
            let (_, logging, tracing) = try #require(action.served)
            #expect((tracing != nil) == isTraced && logging.logsAccess)
        }
    }

    @Test func `An unknown option is refused with 64`() throws {
        let (lines, code) = try #require(decide(["--http-prot", "1"]).refusal)
        #expect(code == 64)
        #expect(lines == ["error: unknown option --http-prot: is --http-port meant?", "See ingest --help."])
    }

    @Test func `Each issue of the settings is a line, and the code is 78`() throws {
        let environment = ["HTTP_PORT": "x", "LOG_FORMAT": "xml", "TLS_CERTIFICATE_FILE": "/nonexistent"]
        let (lines, code) = try #require(decide([], environment).refusal)
        #expect(code == 78)
        #expect(
            lines == [
                #"error: LOG_FORMAT: "xml" is none of: text, json"#,
                #"error: HTTP_PORT: "x" is not a whole number from 0 to 65535"#,
                "error: TLS_PRIVATE_KEY_FILE: is needed, since TLS_CERTIFICATE_FILE is set",
                #"error: TLS_CERTIFICATE_FILE: "/nonexistent" names a file that does not exist"#,
            ])
    }

    @Test func `Incomplete settings are refused`() throws {
        let action: ServiceAction<Int> = ServiceAction.decide(usage: usage, arguments: [], environment: [:]) { _ in nil
        }
        let (lines, code) = try #require(action.refusal)
        #expect(code == 78 && lines == ["error: the configuration is incomplete"])
    }

    @Test(
        arguments: [
            ([:], HealthProbe(host: "127.0.0.1", port: 8080, usesTLS: false)),
            (["HTTP_HOST": "0.0.0.0", "HTTP_PORT": "9"], HealthProbe(host: "127.0.0.1", port: 9, usesTLS: false)),
            (["HTTP_HOST": "::"], HealthProbe(host: "::1", port: 8080, usesTLS: false)),
            (["TLS_CERTIFICATE_FILE": "/x"], HealthProbe(host: "127.0.0.1", port: 8080, usesTLS: true)),
        ] as [([String: String], HealthProbe)])
    func `The probe asks where the service listens`(environment: [String: String], expected: HealthProbe) {
        #expect(decide(["health"], environment).probe == expected)
    }

    @Test func `Port 0 has no probe`() {
        #expect(decide(["health", "--http-port=0"]).refusal?.code == 78)
    }

    @Test func `The version is printed`() throws {
        let text = try #require(decide(["--version"]).printed)
        #expect(text.hasPrefix("ingest 0.1.0 (revision ") && text.contains(", Swift 6."))
    }

    @Test func `The help has every key and the service's own default`() throws {
        let environment = ["HTTP_PORT": "broken", "COLUMNS": "100"]
        let text = try #require(decide(["--help", "--http-port", "9"], environment).printed)
        for key in usage.keys {
            #expect(text.contains("  \(key.flag) \(key.hint)"), "\(key.name)")
            #expect(text.contains("\(key.name): "), "\(key.name)")
        }
        #expect(text.contains("Default: 8080."))
        #expect(text.contains("Takes notifications."))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test func `Logging keys are added once`() {
        let names = ServiceUsage(name: "x", summary: "") { _ = $0[\.logLevel] }.keys.map(\.name)
        #expect(names == ["LOG_LEVEL", "LOG_FORMAT", "ACCESS_LOG"])
    }

    @Test(arguments: [80, 100])
    func `Help of all keys fits the width`(columns: Int) {
        let usage = ServiceUsage(name: "x", summary: "Everything.", isTraced: false, keys: ConfigurationKeys.all)
        for line in usage.help(columns: columns).split(separator: "\n") {
            // The example of a connection string is one word.
            let isOneWord = line.split(separator: " ").count == 1
            #expect(line.count <= columns || isOneWord, "\(line)")
        }
    }

    @Test func `Help is as wide as the terminal`() throws {
        for (columns, width) in [("80", 80), ("400", 100)] {
            let text = try #require(decide(["--help"], ["COLUMNS": columns]).printed)
            let longest = text.split(separator: "\n").map(\.count).max() ?? 0
            #expect((width - 19...width).contains(longest), "\(longest)")
        }
    }
}

extension ServiceAction {
    fileprivate var refusal: (lines: [String], code: Int32)? {
        if case .refuse(let lines, let code) = self { (lines, code) } else { nil }
    }
    fileprivate var served: (Configuration, LoggingConfiguration, TracingConfiguration?)? {
        if case .serve(let own, let logging, let tracing) = self { (own, logging, tracing) } else { nil }
    }
    fileprivate var probe: HealthProbe? { if case .checkHealth(let probe) = self { probe } else { nil } }
    fileprivate var printed: String? { if case .print(let text) = self { text } else { nil } }
}
