import Testing

@testable import ServiceConfiguration

@Suite("Names of variables") struct SettingsEnvironmentTests {
    @Test func `Each setting has a longer name`() {
        for key in ConfigurationKeys.all {
            let environment = SettingsEnvironment(["SECUREPUSH_\(key.name)": "x"])
            #expect(environment[key.name] == "x")
            #expect(environment.variable(of: key.name) == "SECUREPUSH_\(key.name)")
        }
        var reader = ConfigurationReader(environment: ["SECUREPUSH_RETENTION": "90s"])
        #expect(reader[\.retention] == .seconds(90))
        #expect(reader.isSet(\.retention))
    }

    @Test func `An empty value is not set`() {
        let environment = SettingsEnvironment(["SECUREPUSH_RETENTION": "", "RETENTION": "1d", "HTTP_HOST": ""])
        #expect(environment["RETENTION"] == "1d" && environment.variable(of: "RETENTION") == "RETENTION")
        #expect(environment["HTTP_HOST"] == nil && environment.conflict(of: "RETENTION") == nil)
    }

    @Test func `Two values are an issue that names both and shows neither`() {
        let environment = ["DATABASE_URL": "postgres://u:one@h/d", "SECUREPUSH_DATABASE_URL": "postgres://u:two@h/d"]
        var reader = ConfigurationReader(environment: environment)
        for _ in 1...2 { #expect(reader[\.databaseURL] == ConfigurationKeys.databaseURL.fallback) }
        let problem = "DATABASE_URL and SECUREPUSH_DATABASE_URL are set to different values: set one of them"
        #expect(reader.issues == [ConfigurationIssue(key: "DATABASE_URL", problem: problem)])
        // A flag decides.
        reader = ConfigurationReader(flags: ["DATABASE_URL": "sqlite:a"], environment: environment)
        #expect(reader[\.databaseURL] == "sqlite:a" && reader.issues.isEmpty)
    }

    @Test func `The same value twice is no issue`() {
        var reader = ConfigurationReader(environment: ["RETENTION": "1d", "SECUREPUSH_RETENTION": "1d"])
        #expect(reader[\.retention] == .seconds(86_400))
        #expect(reader.issues.isEmpty)
    }

    @Test func `An invalid value names its variable`() {
        var reader = ConfigurationReader(environment: ["SECUREPUSH_RETENTION": "soon"])
        #expect(reader[\.retention] == .seconds(30 * 86_400))
        #expect(reader.issues.first?.problem.hasSuffix("(from SECUREPUSH_RETENTION)") == true)
    }

    @Test func `Variables of OpenTelemetry that are not read are named without their values`() {
        let reader = ConfigurationReader(environment: [
            "OTEL_RESOURCE_ATTRIBUTES": "s3cr3t", "OTEL_SERVICE_NAM": "s3cr3t", "OTEL_SERVICE_NAME": "x",
            "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "otlp", "OTEL_PROPAGATORS": "", "X_OTEL_Y": "1",
        ])
        #expect(
            reader.unknownVariables(ConfigurationKeys.all).map(\.problem) == [
                "OTEL_LOGS_EXPORTER is set and not read here", "OTEL_RESOURCE_ATTRIBUTES is set and not read here",
                "OTEL_SERVICE_NAM is set and not read here: is OTEL_SERVICE_NAME meant?",
            ])
        // The emulator makes no spans.
        #expect(reader.unknownVariables([ConfigurationKeys.httpHost]).isEmpty)
    }

    @Test func `Unknown variables are named without their values`() {
        let environment = SettingsEnvironment([
            "SECUREPUSH_RETENTON": "s3cr3t", "SECUREPUSH_WEATHER_REPORT": "s3cr3t", "RETENTON": "x",
            "SECUREPUSH_RETENTION": "1d", "SECUREPUSH_INGEST_URL": "http://h", "SECUREPUSH_OWN": "1",
        ])
        #expect(
            environment.unknown(besides: ["OWN"]).map(\.problem) == [
                "SECUREPUSH_RETENTON is not a setting: is SECUREPUSH_RETENTION meant?",
                "SECUREPUSH_WEATHER_REPORT is not a setting",
            ])
    }

    /// Every setting of every program, whichever of them looks: they often share an environment.
    @Test func `No setting is unknown`() {
        let command = ["INGEST_API_KEY", "RETRIEVAL_TOKEN", "HUB_EMULATOR_URL"]
        let names = ConfigurationKeys.all.map(\.name) + command
        #expect(names.contains("ADMIN_PASSWORD_FILE") && names.contains("OTEL_EXPORTER_OTLP_HEADERS_FILE"))
        let variables = Set(names).map { ("SECUREPUSH_\($0)", "x") }
        let environment = SettingsEnvironment(Dictionary(uniqueKeysWithValues: variables))
        #expect(environment.unknown().isEmpty)
    }

    @Test func `Only the emulator knows the emulator's settings`() {
        let environment = SettingsEnvironment(["SECUREPUSH_EMULATOR_RECODS": "5", "SECUREPUSH_EMULATOR_SEED": "1"])
        #expect(environment.unknown().isEmpty)
        #expect(
            environment.unknown(besides: ["EMULATOR_RECORDS", "EMULATOR_SEED"]).map(\.problem) == [
                "SECUREPUSH_EMULATOR_RECODS is not a setting: is SECUREPUSH_EMULATOR_RECORDS meant?"
            ])
    }

    @Test func `What scripts, tests and Kubernetes set is not warned of`() {
        let environment = SettingsEnvironment([
            "SECUREPUSH_STATIC": "1",
            "SECUREPUSH_BIN": ".build/debug", "SECUREPUSH_REVISION": "abc", "SECUREPUSH_TEST_AMQP_URL": "amqp://h",
            "SECUREPUSH_EMULATOR_RECORDS": "5", "SECUREPUSH_INGEST_SERVICE_HOST": "10.0.0.1",
            "SECUREPUSH_INGEST_SERVICE_PORT_HTTP": "8080", "SECUREPUSH_INGEST_PORT_8080_TCP_ADDR": "10.0.0.1",
            "SECUREPUSH_HTTP_PORT": "tcp://10.0.0.1:8080",
        ])
        #expect(environment.unknown().isEmpty)
        // A Service object named securepush-http must not become the port.
        #expect(environment["HTTP_PORT"] == nil)
        #expect(SettingsEnvironment(["SECUREPUSH_HTTP_PORT": "8080"])["HTTP_PORT"] == "8080")
    }

    @Test func `Proxies may be in lower case`() {
        let environment = SettingsEnvironment(["https_proxy": "http://a", "no_proxy": "b", "NO_PROXY": "c"])
        #expect(environment["HTTPS_PROXY"] == "http://a" && environment.variable(of: "HTTPS_PROXY") == "https_proxy")
        #expect(environment["NO_PROXY"] == "c")
        #expect(SettingsEnvironment(["retention": "1d"])["RETENTION"] == nil)
    }

    @Test(arguments: [
        ("RETENTON", "RETENTION"), ("DATABSE_URL", "DATABASE_URL"), ("HTTP_PORTS", "HTTP_PORT"), ("WEATHER", nil),
        ("RETNETOIN", "RETENTION"),
        ("A", nil), ("", nil), (String(repeating: "RETENTION", count: 20), nil),
    ])
    func `The closest name is suggested`(name: String, expected: String?) {
        #expect(NameSuggestion.closest(to: name, in: ["DATABASE_URL", "HTTP_PORT", "RETENTION"]) == expected)
    }
}
