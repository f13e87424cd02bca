import Foundation
import Logging
import ServiceRuntime
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite("Reading settings")
struct ConfigurationReaderTests {
    private let port = ConfigurationKeys.port(default: 8080)

    @Test(
        arguments: [
            ([:], [:], 8080), ([:], ["HTTP_PORT": "1"], 1), (["HTTP_PORT": "2"], ["HTTP_PORT": "1"], 2),
            ([:], ["HTTP_PORT": ""], 8080), (["HTTP_PORT": ""], ["HTTP_PORT": "1"], 1),
        ] as [([String: String], [String: String], Int)])
    func `A flag is over the environment, and that over the default`(
        flags: [String: String], environment: [String: String], expected: Int
    ) {
        var reader = ConfigurationReader(flags: flags, environment: environment)
        #expect(reader[port] == expected)
        #expect(reader.issues.isEmpty)
    }

    @Test func `All issues are collected`() {
        var reader = ConfigurationReader(
            flags: ["HTTP_PORT": "80a"], environment: ["RETENTION": "soon", "LOG_LEVEL": "loud"])
        #expect(reader[port] == 8080 && reader[\.retention] == .seconds(30 * 86_400) && reader[\.logLevel] == .info)
        #expect(reader.require(\.payloadKeysFile) == nil)
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

    @Test(arguments: ["apple,apple", "apple , fcmv1,  apple", "windows,apple,windows,apple"])
    func `A platform is named once`(_ text: String) {
        var reader = ConfigurationReader(environment: ["HUB_PLATFORMS": text])
        _ = reader.platforms()
        let names = text.hasPrefix("windows") ? "apple, windows" : "apple"
        #expect(
            reader.issues.map(\.description) == [
                "HUB_PLATFORMS: names \(names) more than once: name each platform once"
            ])
    }

    @Test func `Secrets are not repeated`() {
        let parser = ConfigurationParser<String>(hint: "X") { _ throws(ConfigurationRefusal) in
            throw ConfigurationRefusal("is no URL")
        }
        let key = ConfigurationKey("DATABASE_URL", parser, isSecret: true, meaning: "URL")
        var reader = ConfigurationReader(environment: ["DATABASE_URL": "postgres://u:hunter2@h"])
        #expect(reader[key] == nil)
        #expect(reader.issues.map(\.description) == ["DATABASE_URL: is no URL"])
    }

    @Test func `An issue is one line`() {
        var reader = ConfigurationReader(environment: ["HTTP_PORT": "1\n2" + String(repeating: "x", count: 500)])
        #expect(reader[port] == 8080)
        let line = reader.issues.first?.description ?? "\n"
        #expect(!line.contains("\n"))
        #expect(line.count < 160)
    }

    @Test func `A file takes the place of a default`() async throws {
        try await withTemporaryFolderURL { folder in
            let path = folder.appending(path: "url").path
            try Data("amqps://u:p@h/ \n".utf8).write(to: URL(filePath: path))
            var reader = ConfigurationReader(environment: ["AMQP_URL_FILE": path])
            #expect(reader[\.amqpURL, orFile: \.amqpURLFile] == "amqps://u:p@h/")
            reader = ConfigurationReader(environment: ["AMQP_URL_FILE": path, "AMQP_URL": "amqp://h"])
            #expect(reader[\.amqpURL, orFile: \.amqpURLFile] == ConfigurationKeys.amqpURL.fallback)
            #expect(reader.issues.map(\.key) == ["AMQP_URL"])
        }
    }

    @Test func `An issue is told under the name that is set`() async throws {
        try await withTemporaryFolderURL { folder in
            let path = folder.appending(path: "url").path
            try Data("mysql://u:hunter2@h/d\n".utf8).write(to: URL(filePath: path))
            let sources: [([String: String], [String: String], String)] = [
                ([:], ["DATABASE_URL": "x"], "DATABASE_URL: It is wrong."),
                ([:], ["SECUREPUSH_DATABASE_URL": "x"], "DATABASE_URL: It is wrong (from SECUREPUSH_DATABASE_URL)"),
                (["DATABASE_URL": "x"], [:], "DATABASE_URL: It is wrong (from --database-url)"),
                ([:], ["DATABASE_URL_FILE": path], "DATABASE_URL_FILE: It is wrong."),
                (
                    [:], ["SECUREPUSH_DATABASE_URL_FILE": path],
                    "DATABASE_URL_FILE: It is wrong (from SECUREPUSH_DATABASE_URL_FILE)"
                ),
            ]
            for (flags, environment, line) in sources {
                var reader = ConfigurationReader(flags: flags, environment: environment)
                _ = reader[\.databaseURL, orFile: \.databaseURLFile]
                reader.note(\.databaseURL, "It is wrong.")
                #expect(reader.issues.map(\.description) == [line])
            }
        }
    }

    @Test(arguments: ["\"/x\"", "'/x'", "“/x”", "AUTH_ISSUER=/x", "SECUREPUSH_AUTH_ISSUER=/x", "export AUTH_ISSUER=/x"])
    func `A value that was not copied as it is is told`(_ text: String) {
        var reader = ConfigurationReader(environment: ["AUTH_ISSUER": text])
        #expect(reader[\.authIssuer] == nil)
        #expect(reader.issues.map(\.key) == ["AUTH_ISSUER"])
        #expect(reader.issues.first?.problem.contains("a part of the value here: remove") == true)
    }

    @Test(arguments: ["x", "\"", "it's", "AUTH_ISSUER", "\"a", "https://h/?AUTH_ISSUER=x"])
    func `Other values with such characters are taken`(_ text: String) {
        var reader = ConfigurationReader(environment: ["AUTH_ISSUER": text])
        #expect(reader[\.authIssuer] == text && reader.issues.isEmpty)
    }

    /// Finding 18: a flag is in the list of processes.
    @Test(
        arguments: [
            (["AMQP_URL": "amqp://u:p@h/"], ["AMQP_URL"]), (["AMQP_URL": "amqp://h/"], []),
            (["DATABASE_URL": "postgres://u:p@h/d"], ["DATABASE_URL"]),
            (["DATABASE_URL": "postgres://u@h/d?password=p"], ["DATABASE_URL"]),
            (["DATABASE_URL": "postgres://u@h/d"], []), (["DATABASE_URL": "sqlite:/a:b@c"], []),
            (
                ["HUB_CONNECTION_STRING": "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=k"],
                ["HUB_CONNECTION_STRING"]
            ),
            (["HTTP_HOST": "::1"], []), ([:], []),
        ] as [([String: String], [String])])
    func `Secrets in flags are told`(flags: [String: String], keys: [String]) {
        let reader = ConfigurationReader(flags: flags, environment: ["AMQP_URL": "amqp://u:p@h/"])
        let exposed = reader.exposedSecrets(ConfigurationKeys.all)
        #expect(exposed.map(\.key) == keys)
        #expect(exposed.allSatisfy { $0.problem.hasSuffix("use the variable \($0.key) or \($0.key)_FILE") })
    }

    @Test(arguments: [
        ("PAYLOAD_KEYS_FILE", 0o644, true), ("PAYLOAD_KEYS_FILE", 0o600, false), ("AMQP_URL_FILE", 0o640, true),
        ("AUTH_JWKS_FILE", 0o644, false), ("PAYLOAD_KEYS_FILE", 0o700, false),
    ])
    func `Files of secrets that others can access are told`(_ key: String, _ mode: Int, _ isTold: Bool) throws {
        try withTemporaryPath { path in
            try Data("x".utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let reader = ConfigurationReader(environment: [key: path, "SECUREPUSH_TEST": "x"])
            let open = reader.openFiles(ConfigurationKeys.all)
            #expect(open.map(\.key) == (isTold ? [key] : []))
            #expect(open.allSatisfy { $0.problem.contains(path) && $0.problem.contains("chmod 600") })
        }
    }

    @Test(arguments: [
        ("localhost", true), ("LOCALHOST", true), ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true),
        ("[::1]", true), ("::ffff:127.0.0.1", true), ("0.0.0.0", false), ("::", false), ("10.0.0.1", false),
        ("127.0.0.1.example", false), ("localhost.example", false), ("127.1", false), ("", false), ("rabbit", false),
    ])
    func `Only these hosts are loopback`(host: String, isLocal: Bool) {
        #expect(InsecureLink.isLoopback(host) == isLocal)
    }

    @Test func `Unprotected links are refused unless they are named`() {
        var reader = ConfigurationReader(environment: ["ALLOW_INSECURE": "amqp, HTTP"])
        reader.refuse(["names h"], of: \.amqpURL, as: .amqp, remedy: "use amqps://")
        reader.refuse([], of: \.databaseURL, as: .postgres, remedy: "x")
        #expect(reader.issues.isEmpty)
        reader.refuse(["names h", "names i"], of: \.databaseURL, as: .postgres, remedy: "use sslmode=verify-full")
        #expect(
            reader.issues.map(\.description) == [
                "DATABASE_URL: names h, names i beyond this machine without verified TLS: use sslmode=verify-full, "
                    + "or set ALLOW_INSECURE=postgres"
            ])
        reader = ConfigurationReader(environment: ["ALLOW_INSECURE": "amqp,all"])
        for link in InsecureLink.allCases { #expect(reader.allows(link) == false) }
        #expect(reader.issues.map(\.key) == ["ALLOW_INSECURE"])
    }

    @Test(
        arguments: [
            ([:], nil), (["HTTP_HOST": "::1"], nil), (["HTTP_HOST": "0.0.0.0"], "HTTP_HOST"),
            (["HTTP_HOST": "192.0.2.1"], "HTTP_HOST"), (["HTTP_HOST": "0.0.0.0", "ALLOW_INSECURE": "http"], nil),
            (["HTTP_HOST": "0.0.0.0", "ALLOW_INSECURE": "amqp,jwks,postgres"], "HTTP_HOST"),
            (["HTTP_HOST": "[::1]"], nil),
            (["HTTP_HOST": "[::]"], "HTTP_HOST"),
        ] as [([String: String], String?)])
    func `Listening beyond loopback needs TLS`(environment: [String: String], key: String?) throws {
        var reader = ConfigurationReader(environment: environment)
        _ = HTTPConfiguration.read(&reader, defaultPort: 8080)
        #expect(reader.issues.first?.key == key)
        reader = ConfigurationReader(environment: environment)
        let configuration = try #require(HTTPConfiguration.read(&reader, defaultPort: 8080, isAPI: false))
        // An address in brackets cannot be listened on.
        #expect(!configuration.host.hasPrefix("["))
    }

    @Test func `An empty value is not set`() {
        let reader = ConfigurationReader(flags: ["HUB_NAME": "a"], environment: ["AMQP_URL": "x", "AUTH_ISSUER": ""])
        #expect(reader.isSet(\.hubName))
        #expect(reader.isSet(\.amqpURL))
        #expect(!reader.isSet(\.authIssuer))
        #expect(!reader.isSet(\.databaseURL))
    }
}
