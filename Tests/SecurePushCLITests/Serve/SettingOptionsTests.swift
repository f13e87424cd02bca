import ArgumentParser
import Hub
import Ingest
import ServiceConfiguration
import ServiceRuntime
import Testing

@testable import SecurePushCLI

/// The command line of a service: its settings as options.
@Suite(.timeLimit(.minutes(3))) struct SettingOptionsTests {
    private static func values(_ arguments: [String]) async throws -> [String: String]? {
        let command = try await SecurePush.asyncParseAsRoot(["serve", "ingest"] + arguments)
        if let health = command as? HealthCommand<IngestService> { return health.settings.values }
        return (command as? ServiceCommand<IngestService>)?.settings.values
    }

    @Test(arguments: [
        ["--http-port", "1", "--auth-issuer=a=b"], ["--auth-issuer=a=b", "--http-port=1"],
        ["--http-port", "7", "--auth-issuer", "a=b", "--http-port", "1"],
        ["health", "--http-port", "1", "--auth-issuer=a=b"],
    ])
    func `An option may have its value behind it or after a sign, and the last one wins`(arguments: [String])
        async throws
    {
        #expect(try await Self.values(arguments) == ["HTTP_PORT": "1", "AUTH_ISSUER": "a=b"])
    }

    @Test func `A setting can have a shorter option`() async throws {
        let command = try await SecurePush.asyncParseAsRoot(["serve", "hub-emulator", "--state", "x"])
        let emulator = try #require(command as? ServiceCommand<HubEmulatorService>)
        #expect(emulator.settings.values == ["EMULATOR_STATE": "x"])
    }

    @Test(arguments: [
        ("/usr/lib/securepush/ingest", ["--http-port", "1"], ["serve", "ingest", "--http-port", "1"]),
        ("hub-emulator", [], ["serve", "hub-emulator"]), ("./securepush", ["send"], ["send"]), ("", [], []),
    ])
    func `The name of the program selects the service`(name: String, arguments: [String], expected: [String]) {
        #expect(ServeCommand.arguments(of: [name] + arguments) == expected)
    }

    @Test func `Help has every setting, and the service's own default`() async throws {
        for service in ServeCommand.services {
            let run = try await CommandLineRun(["serve", service.name, "--help"])
            #expect(run.code == 0)
            for key in service.keys {
                #expect(run.output.contains("\(key.flag) <\(key.hint)>"), "\(key.name)")
                #expect(run.output.contains("\(key.name):"), "\(key.name)")
            }
        }
        #expect(try await CommandLineRun(["serve", "ingest", "--help"]).output.contains("Default: 8080."))
        let version = try await CommandLineRun(["serve", "ingest", "--version"])
        #expect(version.output.hasPrefix("ingest ") && version.output.contains(", Swift 6."))
    }

    @Test(arguments: [
        (["--htp-port", "1"], "Unknown option '--htp-port'. Did you mean '--http-port'?"),
        (["--port=1"], "Unknown option '--port'."),
        (
            ["heath"],
            "There is no command `securepush serve ingest heath`. Did you mean `securepush serve ingest health`?"
        ),
        (["postgres://u:secret@h/db"], "`securepush serve ingest` has no such command."),
        (["health", "postgres://u:secret@h/db"], "Unexpected argument."),
        (["--amqp://u:secret@h"], "Unknown option."),
        (["--http-port"], "Missing value for '--http-port <PORT>'."),
        (["--http-port", "--auth-issuer", "x"], "Missing value for '--http-port <PORT>'."),
    ])
    func `A mistake is explained without the value`(arguments: [String], message: String) async throws {
        let run = try await CommandLineRun(["serve", "ingest"] + arguments)
        #expect(run.code == 64)
        #expect(run.errors.hasPrefix("error: \(message)\n") && !run.errors.contains("secret"), "\(run.errors)")
    }
}
