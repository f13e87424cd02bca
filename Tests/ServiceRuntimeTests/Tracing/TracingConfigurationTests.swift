import Foundation
import Foundations
import OutgoingHTTP
import ServiceConfiguration
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Settings of tracing")
struct TracingConfigurationTests {
    private static let endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
    private static let traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    private static let headers = "OTEL_EXPORTER_OTLP_HEADERS"

    private func read(_ environment: [String: String]) -> (TracingConfiguration?, [ConfigurationIssue]) {
        var reader = ConfigurationReader(environment: environment)
        let configuration = TracingConfiguration.read(&reader)
        return (configuration, reader.issues)
    }

    @Test func `Without an endpoint nothing is traced`() {
        let (configuration, issues) = read([Self.headers: "a=b", "OTEL_TRACES_SAMPLER": "always_on"])
        #expect(configuration == nil && issues.isEmpty)
    }

    @Test(arguments: [
        ([endpoint: "http://127.0.0.1:4318"], "http://127.0.0.1:4318/v1/traces"),
        ([endpoint: "https://otel.example/base/"], "https://otel.example/base/v1/traces"),
        ([traces: "https://otel.example/own"], "https://otel.example/own"),
        ([endpoint: "http://127.0.0.1:1", traces: "http://[::1]:2/x"], "http://[::1]:2/x"),
        ([endpoint: "http://otel:4318", "ALLOW_INSECURE": "amqp,otlp"], "http://otel:4318/v1/traces"),
    ])
    func `The endpoint of traces is found`(_ environment: [String: String], _ url: String) {
        let (configuration, issues) = read(environment)
        #expect(configuration?.url == url && issues.isEmpty, "\(issues)")
    }

    @Test(arguments: [
        "otel.example:4318", "ftp://otel.example", "http://", "https://user:secret@otel.example",
        "https://otel.example/?key=secret", "https://otel.example/#x", "https://127.0.0.1:65536", "https://[::1]:0",
    ])
    func `Invalid endpoints are refused`(_ text: String) {
        for key in [Self.endpoint, Self.traces] {
            let (configuration, issues) = read([key: text])
            #expect(configuration == nil && issues.map(\.key) == [key])
            #expect(!"\(issues)".contains("secret"))
        }
    }

    @Test(arguments: [
        ("OTEL_SDK_DISABLED", "true", false), ("OTEL_SDK_DISABLED", "TRUE", false),
        ("OTEL_SDK_DISABLED", "false", true),
        ("OTEL_TRACES_EXPORTER", "none", false), ("OTEL_TRACES_EXPORTER", "otlp", true),
        ("OTEL_TRACES_EXPORTER", "otlp,none", true),
    ])
    func `OpenTelemetry's switches are honoured`(_ key: String, _ text: String, _ isTraced: Bool) {
        // An address that would be refused is not used.
        let (configuration, issues) = read([Self.endpoint: "http://otel.example:4318", key: text])
        #expect(issues.map(\.key) == (isTraced ? [Self.endpoint] : []))
        #expect((configuration != nil) == isTraced)
    }

    @Test func `Another exporter is refused`() {
        let (_, issues) = read(["OTEL_TRACES_EXPORTER": "zipkin"])
        #expect(
            issues.map(\.description) == [
                #"OTEL_TRACES_EXPORTER: "zipkin" has an item that is none of: otlp, none"#
            ])
    }

    @Test func `Plain HTTP beyond loopback is refused`() {
        let (_, issues) = read([Self.endpoint: "http://otel.example:4318"])
        #expect(issues.map(\.key) == [Self.endpoint])
        #expect("\(issues)".contains("ALLOW_INSECURE=otlp") && "\(issues)".contains("otel.example"))
    }

    @Test func `Headers are decoded`() {
        let (configuration, issues) = read([
            Self.endpoint: "http://localhost:1", Self.headers: "api-key=s%20e%3Dcret, x-tenant=a=b,",
        ])
        #expect(issues.isEmpty)
        #expect(configuration?.headers.map(\.name) == ["api-key", "x-tenant"])
        #expect(configuration?.headers.map(\.value) == ["s e=cret", "a=b"])
    }

    @Test func `Headers may be in a file`() async throws {
        try await withTemporaryFolderURL { folder in
            let file = folder.appending(path: "headers")
            let environment = [Self.endpoint: "http://localhost:1", Self.headers + "_FILE": file.path]
            try "api-key=s%20ecret\n".write(to: file, atomically: true, encoding: .utf8)
            let (configuration, issues) = read(environment)
            #expect(issues.isEmpty && configuration?.headers.map(\.value) == ["s ecret"])
            #expect(read(environment.merging([Self.headers: "a=b"]) { $1 }).1.map(\.key) == [Self.headers])
            try "hunter2".write(to: file, atomically: true, encoding: .utf8)
            let (_, refused) = read(environment)
            #expect(refused.map(\.key) == [Self.headers + "_FILE"] && !"\(refused)".contains("hunter2"))
        }
    }

    @Test func `A collector beyond this machine is reached through the proxy`() {
        let proxies = ["HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": ".internal.example"]
        func proxy(of url: String) -> String? {
            let (configuration, _) = read(proxies.merging([Self.endpoint: url]) { $1 })
            return configuration.flatMap { $0.outgoing.proxy(to: $0.url)?.host }
        }
        #expect(proxy(of: "https://otel.example") == "proxy.example")
        #expect(proxy(of: "https://otel.internal.example") == nil)
        #expect(proxy(of: "https://localhost:4318") == nil)
    }

    @Test(arguments: [
        "hunter2", "=hunter2", "a b:c=hunter2", "a=hunter2%0d%0aX: y", "a=hunter2%", "ä=hunter2",
        String(repeating: "a=hunter2,", count: 33),
    ])
    func `Headers that cannot be sent are refused without being shown`(_ text: String) {
        let (configuration, issues) = read([Self.endpoint: "http://localhost:1", Self.headers: text])
        #expect(issues.map(\.key) == [Self.headers])
        #expect(!"\(issues)".contains("hunter2"))
        #expect(configuration?.headers.isEmpty ?? true)
    }

    @Test(arguments: [("2500", Duration.milliseconds(2500)), ("3s", .seconds(3)), ("", .seconds(10))])
    func `A timeout is in milliseconds or with a unit`(_ text: String, _ timeout: Duration) {
        var environment = [Self.endpoint: "http://localhost:1"]
        environment["OTEL_EXPORTER_OTLP_TIMEOUT"] = text
        #expect(read(environment).0?.timeout == timeout)
    }

    @Test(arguments: [
        ("always_on", SpanSampler.always(true)), ("always_off", .always(false)), ("traceidratio", .ratio(0.25)),
        ("parentbased_always_on", .parentOr(true)), ("parentbased_always_off", .parentOr(false)),
        ("parentbased_traceidratio", .parentOrRatio(0.25)),
    ])
    func `A sampler is read by its name`(_ name: String, _ sampler: SpanSampler) {
        let (configuration, _) = read([
            Self.endpoint: "http://localhost:1", "OTEL_TRACES_SAMPLER": name, "OTEL_TRACES_SAMPLER_ARG": "0.25",
        ])
        #expect(configuration?.sampler == sampler)
    }

    @Test(arguments: ["1.1", "-0.1", "nan", "x"])
    func `A share is from zero to one`(_ text: String) {
        let (_, issues) = read([Self.endpoint: "http://localhost:1", "OTEL_TRACES_SAMPLER_ARG": text])
        #expect(issues.map(\.key) == ["OTEL_TRACES_SAMPLER_ARG"])
    }
}
