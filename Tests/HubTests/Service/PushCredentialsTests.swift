import Crypto
import Domain
import Foundation
import Foundations
import Logging
import OutgoingHTTP
import PushServices
import TestSupport
import Testing

@testable import Hub

/// A folder with keys, for files of credentials.
struct CredentialFolder {
    let path: String

    /// Calls a closure with a folder that is removed afterwards. It has `vapid.pem`, `old.pem`, `p384.pem`, `sec1.pem`
    /// and `text`.
    static func with(_ body: (CredentialFolder) throws -> Void) throws {
        try withTemporaryPath { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let folder = CredentialFolder(path: path)
            for name in ["vapid.pem", "old.pem"] { try folder.write(ES256Key().pem, name) }
            try folder.write(P384.Signing.PrivateKey().pemRepresentation, "p384.pem")
            let sec1 = P256.Signing.PrivateKey().pemRepresentation
                .replacing("BEGIN PRIVATE", with: "BEGIN EC PRIVATE").replacing("END PRIVATE", with: "END EC PRIVATE")
            try folder.write(sec1, "sec1.pem")
            try folder.write("no key", "text")
            try body(folder)
        }
    }

    func write(_ text: String, _ name: String) throws {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    func read(_ json: String) throws -> PushCredentials { try PushCredentials(json, path: path + "/credentials.json") }
}

@Suite struct PushCredentialsTests {
    @Test func `Credentials are read, with files beside their own`() throws {
        try CredentialFolder.with { folder in
            let credentials = try folder.read(
                """
                {"SecurePush": {"apns": {"simulated": true},
                  "webPush": {"privateKeyFile": "vapid.pem", "subject": "mailto:ops@example.org",
                    "previousPrivateKeyFiles": ["\(folder.path)/old.pem"], "allowedHosts": ["push.example.org:8443"]}},
                 "other": {}}
                """)
            let hub = try #require(credentials.hubs["securepush"])
            #expect(hub.name == "SecurePush" && hub.platforms[.apns] == .simulated)
            #expect(hub.platforms[.fcm] == nil && hub.platforms[.wns] == nil)
            guard case .webPush(let webPush) = hub.platforms[.webPush] else {
                Issue.record("There are no credentials of Web Push")
                return
            }
            #expect(webPush.allowedHosts == ["push.example.org:8443"] && webPush.previousKeys.count == 1)
            #expect(credentials.fileNames == ["vapid.pem", "\(folder.path)/old.pem"])
            #expect(credentials.simulatedLanes == ["securepush/apple"])
            #expect(credentials.hubs["other"]?.platforms.isEmpty == true)
        }
    }

    /// Of one hub `h`: the JSON of its members, and what the error must name.
    private static let mistakes: [(String, [String])] = [
        (#""apsn": {"simulated": true}"#, ["h, apsn", "no such member"]),
        (#""apns": {"simulated": true, "topic": "a.b"}"#, ["h, apns, topic", "no such member"]),
        (#""apns": {"simulated": "yes"}"#, ["h, apns, simulated", "must be"]),
        (#""apns": {}"#, ["h, apns, keyFile", "h, apns, keyId", "h, apns, teamId", "h, apns, topic", "required"]),
        (
            #""apns": {"keyFile": "p384.pem", "keyId": "ABC1234567", "teamId": "DEF1234567", "topic": "org.example"}"#,
            ["h, apns, keyFile", "p384.pem", "P-256"]
        ),
        (
            #""apns": {"keyFile": "vapid.pem", "keyId": "short", "teamId": "DEF1234567", "topic": "org.example"}"#,
            ["h, apns, keyId", "10 letters"]
        ),
        (
            #""apns": {"keyFile": "vapid.pem", "keyId": "ABC1234567", "teamId": "DEF1234567", "topic": "o", "environment": "test"}"#,
            ["h, apns, environment", "production, sandbox"]
        ),
        (
            #""apns": {"keyFile": "vapid.pem", "keyId": "ABC1234567", "teamId": "DEF1234567", "topic": "o", "endpoint": "http://x"}"#,
            ["h, apns, endpoint", "https: URL"]
        ),
        (
            #""apns": {"keyFile": "vapid.pem", "keyId": "ABC1234567", "teamId": "DEF1234567", "topic": "o", "endpoint": "https://x/y"}"#,
            ["h, apns", "endpoint is not an https: URL without a path"]
        ),
        (
            #""apns": {"keyFile": "vapid.pem", "keyId": "ABC1234567", "teamId": "DEF1234567", "topic": "a b"}"#,
            ["h, apns", "topic is not the bundle ID"]
        ),
        (#""fcm": {"serviceAccountFile": "text"}"#, ["h, fcm, serviceAccountFile", "not a JSON object"]),
        (#""fcm": {"serviceAccountFile": "missing"}"#, ["h, fcm, serviceAccountFile", "no such file"]),
        (#""wns": {"clientSecretFile": "text"}"#, ["h, wns", "tenant and clientId, or packageSid"]),
        (
            #""wns": {"clientSecretFile": "text", "tenant": "t", "clientId": "c", "packageSid": "p"}"#,
            ["h, wns", "either"]
        ),
        (#""webPush": {"privateKeyFile": "vapid.pem"}"#, ["h, webPush, subject", "required"]),
        (
            #""webPush": {"privateKeyFile": "missing", "subject": "mailto:a@b.example"}"#,
            ["h, webPush, privateKeyFile", "missing", "no such file"]
        ),
        (
            #""webPush": {"privateKeyFile": "sec1.pem", "subject": "mailto:a@b.example"}"#,
            ["h, webPush, privateKeyFile", "PKCS#8"]
        ),
        (
            #""webPush": {"privateKeyFile": "text", "subject": "mailto:a@b.example"}"#,
            ["h, webPush, privateKeyFile", "no private key"]
        ),
        (#""webPush": {"privateKeyFile": "vapid.pem", "subject": "me"}"#, ["h, webPush", "subject", "mailto:"]),
        (
            #""webPush": {"privateKeyFile": "vapid.pem", "subject": "mailto:a@b.example", "allowedHosts": ["https://x"]}"#,
            ["h, webPush, allowedHosts, 0"]
        ),
        (#""caFile": "text""#, ["h, caFile", "no certificate"]),
        (#""apns": {"simulated": true}, "apns": {"simulated": true}"#, ["h, apns", "repeated"]),
    ]

    @Test(arguments: mistakes) func `A mistake names hub, member and reason`(_ json: String, _ parts: [String]) throws {
        try CredentialFolder.with { folder in
            let error = try #require(throws: SetupError.self, performing: { try folder.read("{\"h\": {\(json)}}") })
            for part in parts { #expect(error.message.contains(part), "\(error.message)") }
        }
    }

    @Test(arguments: [
        ("", "not JSON"), ("[]", "must be"), (#"{"livez": {}}"#, "reserved"), (#"{"a/b": {}}"#, "letters"),
        (#"{"h": {}, "H": {}}"#, "repeated"), (#"{"h": {}, "h": {}}"#, "repeated"),
    ])
    func `A file of another form is refused`(_ json: String, _ reason: String) throws {
        try CredentialFolder.with { folder in
            let error = try #require(throws: SetupError.self, performing: { try folder.read(json) })
            #expect(error.message.contains(reason), "\(error.message)")
        }
    }

    @Test func `Each platform has its connector`() throws {
        try CredentialFolder.with { folder in
            let credentials = try folder.read(
                """
                {"h": {"apns": {"keyFile": "vapid.pem", "keyId": "ABC1234567", "teamId": "DEF1234567", "topic": "o"},
                  "wns": {"clientSecretFile": "text", "packageSid": "ms-app://s-1"},
                  "webPush": {"privateKeyFile": "old.pem", "subject": "mailto:ops@example.org"}}}
                """)
            let connectors = PushConnectors(outgoing: .init(), tokens: LocalPushTokens(), logger: .init(label: "test"))
            let pushers = connectors.pushers(credentials)
            func connector(_ format: NotificationFormat) -> (any PushConnector)? {
                if case .connector(let connector, _) = pushers["h", format] { connector } else { nil }
            }
            #expect(connector(.apple) is APNsConnector && connector(.windows) is WNSConnector)
            #expect(connector(.browser) is WebPushConnector && connector(.fcmv1) == nil)
            #expect(Set(pushers.connectors.map(\.key.version)).count == 3)
        }
    }

    @Test func `Only what changes gets another connector`() throws {
        try CredentialFolder.with { folder in
            func json(_ subject: String) -> String {
                #"{"a": {"webPush": {"privateKeyFile": "vapid.pem", "subject": "mailto:x@\#(subject)"}, "wns": {"simulated": true}}, "#
                    + #""b": {"webPush": {"privateKeyFile": "old.pem", "subject": "mailto:x@b.example"}}}"#
            }
            let connectors = PushConnectors(outgoing: .init(), tokens: LocalPushTokens(), logger: .init(label: "test"))
            let first = connectors.pushers(try folder.read(json("a.example")))
            let same = connectors.pushers(try folder.read(json("a.example")))
            let second = connectors.pushers(try folder.read(json("c.example")))
            #expect(first["a", .browser].version != nil && first["a", .browser].version == same["a", .browser].version)
            #expect(first["a", .browser].version != second["a", .browser].version)
            #expect(first["b", .browser].version == second["b", .browser].version)
            #expect(first["a", .windows].isSimulated)
            #expect(first["a", .apple].kind == "missing" && first["c", .browser].kind == "missing")
        }
    }

    /// A certificate that nobody trusts any more; only its form counts.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCARmgAwIBAgIUW5SFVFTGyEwVQx6oqDdttAuC+skwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAeFw0yNjExMjcxODMzNTJaFw0yNjExMjgxODMzNTJa
        MA8xDTALBgNVBAMMBHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATxgvcc
        iInnCzHJp5+UD+byFcjG5cT8vIgyhUV8xgcw3bVrV8NYM4Dybpts5J7icpAUgTyK
        8kcI9+72dttCk/Rio1MwUTAdBgNVHQ4EFgQUUI3z/RwqBoHeLoHlqU316Bcxn7Aw
        HwYDVR0jBBgwFoAUUI3z/RwqBoHeLoHlqU316Bcxn7AwDwYDVR0TAQH/BAUwAwEB
        /zAKBggqhkjOPQQDAgNJADBGAiEA/Ui0fk2n5cMED80DLxM1nEwI3vWftRt8dB+Y
        D7jlwrQCIQC57RLysqSEDaWm9GGzlpW+uoCW8UtR0Kp85gEtLuOCHg==
        -----END CERTIFICATE-----

        """

    @Test func `Authorities are the text that was checked, whatever becomes of the file`() throws {
        try CredentialFolder.with { folder in
            try folder.write(Self.certificate, "ca.pem")
            let hub = try folder.read(#"{"h": {"caFile": "ca.pem"}}"#).hubs["h"]
            try folder.write("", "ca.pem")
            #expect(hub?.authorities == Self.certificate)
        }
    }

    @Test func `Files with secrets that others can read are told, and no other file`() throws {
        try CredentialFolder.with { folder in
            try folder.write(Self.certificate, "ca.pem")
            func setMode(_ mode: Int, of name: String) throws {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path + "/" + name)
            }
            try setMode(0o644, of: "ca.pem")
            let json = #"""
                {"h": {"caFile": "ca.pem", "webPush": {"privateKeyFile": "vapid.pem",
                  "previousPrivateKeyFiles": ["old.pem"], "subject": "mailto:x@b.example"}}}
                """#
            #expect(try folder.read(json).openFiles.isEmpty)
            try setMode(0o640, of: "old.pem")
            let problems = try folder.read(json).openFiles
            #expect(problems == ["old.pem: Other users can access the file (mode 640). Run chmod 600 on it."])
        }
    }

    @Test func `The file is read again when a file that it names changes`() throws {
        try CredentialFolder.with { folder in
            let path = folder.path + "/credentials.json"
            try folder.write(
                #"{"h": {"webPush": {"privateKeyFile": "vapid.pem", "subject": "mailto:x@b.example"}}}"#,
                "credentials.json")
            let file = try PushCredentialsFile(path: path, logger: .init(label: "test"))
            let (before, changes) = file.current
            try folder.write(ES256Key().pem, "vapid.pem")
            #expect(file.reread() == nil)
            let (after, later) = file.current
            #expect(later == changes + 1)
            #expect(before.hubs["h"] != after.hubs["h"])
            try folder.write("no key", "vapid.pem")
            #expect(file.reread()?.message.contains("h, webPush, privateKeyFile") == true)
            #expect(file.current.credentials.hubs["h"] == after.hubs["h"])
            #expect(file.source.problem() != nil)
        }
    }
}
