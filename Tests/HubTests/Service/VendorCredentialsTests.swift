import CryptoExtras
import Domain
import Foundations
import PushServices
import TestSupport
import Testing

@testable import Hub

/// The credentials of FCM and WNS in `PUSH_CREDENTIALS_FILE`.
@Suite struct VendorCredentialsTests {
    private static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation }

    /// A file as Google's console gives it.
    private static func account(
        key: String? = nil, tokenURI: String = "https://oauth2.googleapis.com/token", project: String = "p"
    ) throws -> String {
        let members = [
            ("type", "service_account"), ("project_id", project), ("private_key_id", "id"),
            ("private_key", try key ?? Self.key.get()), ("client_email", "a@p.iam.gserviceaccount.com"),
            ("token_uri", tokenURI),
        ]
        return JSONValue.object(members.map { JSONValue.Member($0, .string($1)) }).json
    }

    private static func hub(_ members: String) -> String { "{\"h\": {\(members)}}" }

    @Test func `A service account is read from its file`() throws {
        try CredentialFolder.with { folder in
            try folder.write(Self.account(), "account.json")
            let read = try folder.read(Self.hub(#""fcm": {"serviceAccountFile": "account.json"}"#))
            guard case .fcm(let fcm) = read.hubs["h"]?.platforms[.fcm] else {
                Issue.record("There are no credentials of FCM")
                return
            }
            #expect(fcm.projectID == "p" && fcm.clientEmail == "a@p.iam.gserviceaccount.com" && fcm.keyID == "id")
            #expect(fcm.tokenURI == "https://oauth2.googleapis.com/token" && fcm.tokenEndpoint == nil)
        }
    }

    /// A file that names another token service would send assertions there.
    @Test(arguments: [
        "https://evil.example/token", "http://oauth2.googleapis.com/token",
        "https://oauth2.googleapis.com.evil.example/",
        "https://x@oauth2.googleapis.com/token",
    ])
    func `Only Google's token service is used, unless the operator names another`(tokenURI: String) throws {
        try CredentialFolder.with { folder in
            try folder.write(Self.account(tokenURI: tokenURI), "account.json")
            let error = try #require(throws: SetupError.self) {
                try folder.read(Self.hub(#""fcm": {"serviceAccountFile": "account.json"}"#))
            }
            #expect(error.message.contains("token_uri") && error.message.contains("oauth2.googleapis.com"))
            let members = #""fcm": {"serviceAccountFile": "account.json", "tokenEndpoint": "https://proxy.example/t"}"#
            guard case .fcm(let fcm) = try folder.read(Self.hub(members)).hubs["h"]?.platforms[.fcm] else {
                Issue.record("There are no credentials of FCM")
                return
            }
            // The assertion stays one for the account's own service.
            #expect(fcm.tokenURI == tokenURI && fcm.tokenEndpoint == "https://proxy.example/t")
        }
    }

    @Test(arguments: [
        (#"{"type": "service_account"}"#, "not that of a service account"), ("[]", "not a JSON object"),
    ])
    func `A file that is none of a service account is named`(text: String, reason: String) throws {
        try CredentialFolder.with { folder in
            try folder.write(text, "account.json")
            let error = try #require(throws: SetupError.self) {
                try folder.read(Self.hub(#""fcm": {"serviceAccountFile": "account.json"}"#))
            }
            #expect(error.message.contains("h, fcm, serviceAccountFile") && error.message.contains(reason))
        }
    }

    @Test func `Keys of the wrong kind are refused`() throws {
        let small = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024)).pemRepresentation
        for (key, reason) in [(small, "1024 bits, and 2048 is the minimum"), (ES256Key().pem, "not an RSA key")] {
            try CredentialFolder.with { folder in
                try folder.write(Self.account(key: key), "account.json")
                let error = try #require(throws: SetupError.self) {
                    try folder.read(Self.hub(#""fcm": {"serviceAccountFile": "account.json"}"#))
                }
                #expect(error.message.contains(reason), "\(error.message)")
                #expect(!error.message.contains("PRIVATE KEY"))
            }
        }
    }

    @Test func `Both identities of WNS are read`() throws {
        try CredentialFolder.with { folder in
            let identities: [(String, WNSConfiguration.Identity)] = [
                (#""tenant": "t", "clientId": "c""#, .entra(tenant: "t", clientID: "c")),
                (#""packageSid": "ms-app://s-1""#, .package(sid: "ms-app://s-1")),
            ]
            for (members, identity) in identities {
                let read = try folder.read(Self.hub(#""wns": {\#(members), "clientSecretFile": "text"}"#))
                guard case .wns(let wns) = read.hubs["h"]?.platforms[.wns] else {
                    Issue.record("There are no credentials of WNS")
                    return
                }
                #expect(wns.identity == identity && wns.clientSecret == "no key")
            }
        }
    }

    @Test(arguments: [
        (#""wns": {"tenant": "a/b", "clientId": "c", "clientSecretFile": "text"}"#, ["h, wns", "tenant"]),
        (
            #""wns": {"packageSid": "p", "clientSecretFile": "text", "allowedHosts": ["https://x"]}"#,
            ["h, wns, allowedHosts"]
        ),
        (
            #""wns": {"packageSid": "p", "clientSecretFile": "text", "tokenEndpoint": "http://x"}"#,
            ["h, wns, tokenEndpoint"]
        ),
    ])
    func `A mistake names hub, member and reason`(members: String, parts: [String]) throws {
        try CredentialFolder.with { folder in
            let error = try #require(throws: SetupError.self) { try folder.read(Self.hub(members)) }
            for part in parts { #expect(error.message.contains(part), "\(error.message)") }
        }
    }
}
