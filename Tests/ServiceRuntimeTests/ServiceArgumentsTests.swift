import Testing

@testable import ServiceConfiguration
@testable import ServiceRuntime

@Suite("The command line of a service")
struct ServiceArgumentsTests {
    private let keys: [any ConfigurationKeyDescription] = [
        ConfigurationKeys.httpHost, ConfigurationKeys.httpPort, ConfigurationKeys.hubName,
    ]

    @Test(arguments: [
        ["--http-port", "1", "--hub-name=a=b"], ["--hub-name=a=b", "--http-port=1"],
        ["--http-port", "7", "--hub-name", "a=b", "--http-port", "1"],
    ])
    func `A flag may have its value behind it or after a sign`(arguments: [String]) throws {
        let parsed = try ServiceArguments.parse(arguments, keys: keys)
        #expect(parsed == ServiceArguments(command: .serve, flags: ["HTTP_PORT": "1", "HUB_NAME": "a=b"]))
    }

    @Test(arguments: [
        ["--state", "x"], ["--state=x"], ["--emulator-state", "x"], ["--state", "y", "--emulator-state=x"],
    ])
    func `A key can have a shorter flag`(arguments: [String]) throws {
        let key = ConfigurationKey("EMULATOR_STATE", .path, shortFlag: "--state", meaning: "File")
        #expect(try ServiceArguments.parse(arguments, keys: [key]).flags == ["EMULATOR_STATE": "x"])
        let usage = ServiceUsage(name: "x", summary: "") { _ = $0[key] }
        #expect(usage.help(columns: 100).contains("EMULATOR_STATE: File. Also --state."))
    }

    @Test(
        arguments: [
            ([], .serve), (["--help"], .help), (["-h"], .help), (["--version"], .version), (["health"], .health),
            (["--version", "--help"], .help), (["--http-port", "1", "health"], .health),
        ] as [([String], ServiceArguments.Command)])
    func `The commands are these`(arguments: [String], command: ServiceArguments.Command) throws {
        #expect(try ServiceArguments.parse(arguments, keys: keys).command == command)
    }

    @Test(arguments: [
        (["--htp-port", "1"], "unknown option --htp-port: is --http-port meant?"),
        (["--port=1"], "unknown option --port"),
        (["--hepl"], "unknown option --hepl: is --help meant?"),
        (["heath"], "unknown argument heath: is health meant?"),
        (["health", "x"], "unknown argument x"),
        (["postgres://u:secret@h/db"], "unknown argument"), (["--port=\u{301}secret"], "unknown option --port"),
        (["Secret1"], "unknown argument"), (["--amqp://u:secret@h"], "unknown option"),
        (["--generate-completion-script", "bash"], "unknown option --generate-completion-script"),
        (["--http-port"], "--http-port needs a value: --http-port PORT"),
        (["--http-port", "--hub-name", "x"], "--http-port needs a value: --http-port PORT"),
    ])
    func `A mistake is explained without the value`(arguments: [String], message: String) {
        #expect(throws: ServiceArguments.UsageError(description: message)) {
            try ServiceArguments.parse(arguments, keys: keys)
        }
    }
}
