import ServiceRuntime
import Testing

@testable import ServiceConfiguration

@Suite("Reading settings")
struct ConfigurationReaderTests {
    private let port = ConfigurationKeys.httpPort(default: 8080)

    @Test(
        arguments: [
            ([:], [:], 8080), ([:], ["HTTP_PORT": "1"], 1), (["HTTP_PORT": "2"], ["HTTP_PORT": "1"], 2),
            ([:], ["HTTP_PORT": ""], 8080), (["HTTP_PORT": ""], ["HTTP_PORT": "1"], 1),
        ] as [([String: String], [String: String], Int)])
    func flagsOverEnvironmentOverDefault(flags: [String: String], environment: [String: String], expected: Int) {
        var reader = ConfigurationReader(flags: flags, environment: environment)
        #expect(reader.read(port) == expected)
        #expect(reader.issues.isEmpty)
    }

    @Test func allIssuesAreCollected() {
        var reader = ConfigurationReader(
            flags: ["HTTP_PORT": "80a"], environment: ["RETENTION": "soon", "LOG_LEVEL": "loud"])
        #expect(reader.read(port) == nil)
        #expect(reader.read(ConfigurationKeys.retention) == nil)
        #expect(reader.read(ConfigurationKeys.logLevel) == nil)
        #expect(reader.require(ConfigurationKeys.payloadKeysFile) == nil)
        reader.note("HUB_NAME", "is odd")
        #expect(
            reader.issues.map(\.description) == [
                #"HTTP_PORT: "80a" is not a whole number from 0 to 65535 (from --http-port)"#,
                #"RETENTION: "soon" is not a number and ms, s, m, h or d, as in 30s"#,
                #"LOG_LEVEL: "loud" is none of: trace, debug, info, notice, warning, error, critical"#,
                "PAYLOAD_KEYS_FILE: is needed and not set (--payload-keys-file or PAYLOAD_KEYS_FILE)",
                "HUB_NAME: is odd",
            ])
    }

    @Test(arguments: ["apple,apple", "apple , fcmv1,\tapple", "windows,apple,windows,apple"])
    func aPlatformIsNamedOnce(_ text: String) {
        var reader = ConfigurationReader(environment: ["HUB_PLATFORMS": text])
        #expect(reader.readPlatforms() == nil)
        let names = text.hasPrefix("windows") ? "apple, windows" : "apple"
        #expect(
            reader.issues.map(\.description) == [
                "HUB_PLATFORMS: names \(names) more than once: name each platform once"
            ])
    }

    @Test func secretsAreNotRepeated() {
        let parser = ConfigurationParser<String>(hint: "X") { _ throws(ConfigurationRefusal) in
            throw ConfigurationRefusal("is no URL")
        }
        let key = ConfigurationKeys.databaseURL.parsed(by: parser)
        var reader = ConfigurationReader(environment: ["DATABASE_URL": "postgres://u:hunter2@h"])
        #expect(reader.read(key) == nil)
        #expect(reader.issues.map(\.description) == ["DATABASE_URL: is no URL"])
    }

    @Test func oneLineEach() {
        var reader = ConfigurationReader(environment: ["HTTP_PORT": "1\n2" + String(repeating: "x", count: 500)])
        #expect(reader.read(port) == nil)
        let line = reader.issues.first?.description ?? "\n"
        #expect(!line.contains("\n"))
        #expect(line.count < 160)
    }

    @Test func whetherAKeyIsSet() {
        let reader = ConfigurationReader(flags: ["HUB_NAME": "a"], environment: ["AMQP_URL": "x", "AUTH_ISSUER": ""])
        #expect(reader.isSet(ConfigurationKeys.hubName))
        #expect(reader.isSet(ConfigurationKeys.amqpURL))
        #expect(!reader.isSet(ConfigurationKeys.authIssuer))
        #expect(!reader.isSet(ConfigurationKeys.databaseURL))
    }
}
