import Domain
import Foundations
import OutgoingHTTP
import PushServices

/// The rules by which the members of `PUSH_CREDENTIALS_FILE` are read (contract-hub, K2).
struct CredentialRules {
    private static let maxHosts = 64
    private static let maxPreviousKeys = WebPushConfiguration.maxPreviousKeys

    let files: CredentialFiles

    /// A hub's member.
    ///
    /// - Parameter name: of the hub.
    func hub(_ name: String) -> JSONRule<HubCredentials> {
        .object { json in
            var hub = HubCredentials(name: name)
            hub.platforms[.apns] = json.optional("apns", platform { apns(&$0).map(PlatformCredentials.apns) })
            hub.platforms[.fcm] = json.optional("fcm", platform { fcm(&$0).map(PlatformCredentials.fcm) })
            hub.platforms[.wns] = json.optional("wns", platform { wns(&$0).map(PlatformCredentials.wns) })
            hub.platforms[.webPush] = json.optional(
                "webPush", platform { webPush(&$0).map(PlatformCredentials.webPush) })
            hub.authorities = json.optional("caFile", authorities)
            return hub
        }
    }

    /// `{"simulated": true}`, or the credentials of the push service.
    private func platform(
        _ read: @escaping (inout JSONObjectReader) -> PlatformCredentials?
    ) -> JSONRule<PlatformCredentials> {
        .object { json in
            if json.contains("simulated"), json.required("simulated", .boolean) == true { return .simulated }
            return read(&json)
        }
    }

    private func apns(_ json: inout JSONObjectReader) -> APNsCredentials? {
        let key = json.required("keyFile", p256)
        let keyID = json.required("keyId", Self.identifier)
        let teamID = json.required("teamId", Self.identifier)
        let topic = json.required("topic", Self.text)
        let environment = json.optional("environment", JSONRule<APNsConfiguration.Environment>.choice)
        let endpoint = json.optional("endpoint", Self.url)
        guard let key, let keyID, let teamID, let topic else { return nil }
        let credentials = APNsCredentials(
            key: key, keyID: keyID, teamID: teamID, topic: topic, environment: environment ?? .production,
            endpoint: endpoint)
        return usable(credentials, &json) { credentials throws(SetupError) in _ = try credentials.configuration }
    }

    private func fcm(_ json: inout JSONObjectReader) -> FCMCredentials? {
        let account = json.required("serviceAccountFile", serviceAccount)
        let endpoint = json.optional("endpoint", Self.url)
        let tokenEndpoint = json.optional("tokenEndpoint", Self.url)
        guard var account else { return nil }
        (account.endpoint, account.tokenEndpoint) = (endpoint, tokenEndpoint)
        if tokenEndpoint == nil, PublicHost.of(account.tokenURI) != FCMCredentials.tokenHost {
            json.note(
                "The token_uri of the service account is not at \(FCMCredentials.tokenHost). Correct the file, or set "
                    + "tokenEndpoint.", at: "serviceAccountFile")
            return nil
        }
        return usable(account, &json) { credentials throws(SetupError) in _ = try credentials.configuration }
    }

    private func wns(_ json: inout JSONObjectReader) -> WNSCredentials? {
        let secret = json.required("clientSecretFile", secret)
        let tenant = json.optional("tenant", Self.text)
        let client = json.optional("clientId", Self.text)
        let package = json.optional("packageSid", Self.text)
        let tokenEndpoint = json.optional("tokenEndpoint", Self.url)
        let hosts = json.optional("allowedHosts", Self.hosts)
        let identity: WNSConfiguration.Identity
        switch (tenant, client, package) {
        case (let tenant?, let client?, nil): identity = .entra(tenant: tenant, clientID: client)
        case (nil, nil, let package?): identity = .package(sid: package)
        default:
            json.note("Needs either tenant and clientId, or packageSid.")
            return nil
        }
        guard let secret else { return nil }
        let credentials = WNSCredentials(
            identity: identity, clientSecret: secret, tokenEndpoint: tokenEndpoint, allowedHosts: hosts ?? [])
        return usable(credentials, &json) { credentials throws(SetupError) in _ = try credentials.configuration }
    }

    private func webPush(_ json: inout JSONObjectReader) -> WebPushCredentials? {
        let key = json.required("privateKeyFile", p256)
        let subject = json.required("subject", Self.text)
        let hosts = json.optional("allowedHosts", Self.hosts)
        let previous = json.optional(
            "previousPrivateKeyFiles",
            .list(of: p256, 0...Self.maxPreviousKeys) {
                "There are \($0) keys; \(Self.maxPreviousKeys) is the maximum."
            })
        guard let key, let subject else { return nil }
        let credentials = WebPushCredentials(
            key: key, previousKeys: previous ?? [], subject: subject, allowedHosts: hosts ?? [])
        return usable(credentials, &json) { credentials throws(SetupError) in _ = try credentials.configuration }
    }

    /// Credentials that their connector takes.
    private func usable<Credentials>(
        _ credentials: Credentials, _ json: inout JSONObjectReader, check: (Credentials) throws(SetupError) -> Void
    ) -> Credentials? {
        do throws(SetupError) {
            try check(credentials)
            return credentials
        } catch {
            json.note("\(error.message).")
            return nil
        }
    }

    // MARK: Files

    /// A file with a private key on P-256.
    private var p256: JSONRule<String> {
        file { text throws(SetupError) in
            _ = try ES256Key(pem: text)
            return text
        }
    }

    /// A file with a secret on one line.
    private var secret: JSONRule<String> {
        file { text throws(SetupError) in
            let secret = OutsideText.trimmed(text)
            guard !secret.isEmpty, OutsideText.controlCharacter(in: secret) == nil else {
                throw SetupError(.malformed, "the file is empty, or has more than one line.")
            }
            return secret
        }
    }

    /// A file of authorities in PEM.
    private var authorities: JSONRule<String> {
        file(isSecret: false) { text throws(SetupError) in
            guard TrustedAuthorities.count(inPEM: text) > 0 else {
                throw SetupError(.malformed, "the file has no certificate in PEM.")
            }
            return text
        }
    }

    /// The file that Google's console gives for a service account.
    private var serviceAccount: JSONRule<FCMCredentials> {
        file { text throws(SetupError) in
            guard let json = JSONValue(text: text), json.members != nil else {
                throw SetupError(.malformed, "the file is not a JSON object.")
            }
            func member(_ name: String) throws(SetupError) -> String {
                guard let value = json[name]?.text, !value.isEmpty else {
                    throw SetupError(.malformed, "the file has no \(name): it is not that of a service account.")
                }
                return value
            }
            let key = try member("private_key")
            _ = try RS256Key(pem: key)
            return FCMCredentials(
                projectID: try member("project_id"), clientEmail: try member("client_email"),
                keyID: json["private_key_id"]?.text, privateKey: key, tokenURI: try member("token_uri"))
        }
    }

    /// The path of a file, and the value that is made of its text. An issue names the path.
    private func file<Value>(
        isSecret: Bool = true, _ make: @escaping (_ text: String) throws(SetupError) -> Value
    ) -> JSONRule<Value> {
        let files = files
        return JSONRule { json in
            guard let path = json.read(Self.text) else { return nil }
            do {
                return try make(try files.text(path, isSecret: isSecret))
            } catch let error as SetupError {
                json.note("\(path): \(error.message)")
            } catch {
                json.note(ErrorText.describe(error))
            }
            return nil
        }
    }

    // MARK: Texts

    private static let maxTextBytes = 1000

    /// One line, not empty.
    private static var text: JSONRule<String> {
        .text { text in
            (1...maxTextBytes).contains(text.utf8.count) && OutsideText.controlCharacter(in: text) == nil
                ? nil : "The value must be one line of 1 to \(maxTextBytes) bytes."
        }
    }

    /// Apple's IDs of keys and teams.
    private static var identifier: JSONRule<String> {
        .text { text in
            text.utf8.count == 10 && ByteSet.alphanumerics.containsAll(text)
                ? nil : "The value must be 10 letters and digits."
        }
    }

    private static var url: JSONRule<String> {
        .text { text in
            PublicHost.of(text) != nil && text.utf8.count <= maxTextBytes ? nil : "The value must be an https: URL."
        }
    }

    private static var hosts: JSONRule<[String]> {
        .list(of: .text(hostIssue), 0...maxHosts) { "There are \($0) hosts; \(maxHosts) is the maximum." }
    }

    private static func hostIssue(_ text: String) -> String? {
        do throws(SetupError) {
            _ = try PushDestinations(services: [], allowedHosts: [text])
            return nil
        } catch {
            return error.message
        }
    }
}

/// The host of an `https:` URL.
enum PublicHost {
    /// In lower case; `nil` for another text, and for a URL with user information or a fragment.
    static func of(_ url: String) -> String? {
        guard url.hasPrefix("https://"), !url.utf8.contains(UInt8(ascii: "#")) else { return nil }
        let rest = url.dropFirst("https://".count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        return (try? Endpoint("https://\(authority)", schemes: ["https"]))?.host.lowercased()
    }
}
