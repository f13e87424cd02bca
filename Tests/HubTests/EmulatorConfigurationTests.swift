import ServiceConfiguration
import ServiceRuntime
import Testing

@testable import Hub

@Suite struct EmulatorConfigurationTests {
    private func read(_ environment: [String: String]) -> (EmulatorConfiguration?, [ConfigurationIssue]) {
        var reader = ConfigurationReader(environment: environment)
        let configuration = EmulatorConfiguration.read(&reader)
        return (configuration, reader.issues)
    }

    @Test func `Defaults are a plain local hub with a fresh key`() throws {
        let first = try #require(read([:]).0)
        let second = try #require(read([:]).0)
        #expect(
            first.connectionString.text.hasPrefix(
                "Endpoint=http://127.0.0.1:8090/;SharedAccessKeyName=DefaultFullSharedAccessSignature;Shared"))
        #expect(first.connectionString.key != second.connectionString.key)
        #expect(first.hubNames == nil)
        #expect(first.rules.map(\.name) == ["DefaultFullSharedAccessSignature", "DefaultListenSharedAccessSignature"])
        #expect(first.rules.map(\.rights) == [.full, .listen])
    }

    @Test func `The connection string is fixed and the endpoint overridden`() throws {
        let fixed = "Endpoint=sb://ns.test/;SharedAccessKeyName=r;SharedAccessKey=k=="
        #expect(try #require(read(["EMULATOR_CONNECTION_STRING": fixed]).0).connectionString.text == fixed)
        let overridden = try #require(
            read(["EMULATOR_CONNECTION_STRING": fixed, "EMULATOR_ENDPOINT": "http://hub-emulator:8090/"]).0)
        #expect(
            overridden.connectionString.text
                == "Endpoint=http://hub-emulator:8090/;SharedAccessKeyName=r;SharedAccessKey=k==")
    }

    @Test func `The port that the system chose is printed`() throws {
        let configuration = try #require(read(["HTTP_PORT": "0", "HTTP_HOST": "0.0.0.0"]).0)
        #expect(configuration.connectionString(listeningOn: 4711).hasPrefix("Endpoint=http://127.0.0.1:4711/;"))
    }

    @Test func `Names and keys are read`() throws {
        let configuration = try #require(
            read([
                "EMULATOR_HUB_NAMES": "One, two", "EMULATOR_LISTEN_KEY": "l", "EMULATOR_SECONDARY_KEY": "s",
                "EMULATOR_RECORDS": "7",
            ]).0)
        #expect(configuration.hubNames == ["one", "two"])
        #expect(configuration.rules.map(\.keys.last) == ["s", "l"])
        #expect(configuration.recordCapacity == 7)
    }

    @Test(
        arguments: [
            ("EMULATOR_CONNECTION_STRING", "secret-and-wrong"), ("EMULATOR_ENDPOINT", "nowhere"),
            ("EMULATOR_RECORDS", "0"), ("EMULATOR_HUB_NAMES", ","), ("EMULATOR_WEB_APP", "/nowhere"),
        ] as [(String, String)])
    func `Bad values are issues`(_ key: String, _ value: String) {
        let (configuration, issues) = read([key: value])
        #expect(configuration == nil)
        #expect(issues.map(\.key) == [key])
        #expect(!issues.contains { $0.problem.contains("secret") })
    }
}
