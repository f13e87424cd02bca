import Authentication
import Domain
import Foundation
import Foundations
import Hub
import Logging
import NIOSSL
import NotificationHubs
import OutgoingHTTP
import ServiceConfiguration
import ServiceRuntime

extension Doctor {
    /// Checks that the files of keys, users and credentials exist, are valid, and cannot be read by others.
    func files() async -> [Finding] {
        let checks: [(key: String, isSecret: Bool, read: @Sendable (String) throws -> String)] = [
            ("PAYLOAD_KEYS_FILE", true, { Doctor.counted(try KeysCommand.ring($0).keyIDs.count, "key") }),
            ("INGEST_API_KEYS_FILE", true, { Doctor.counted(try APIKeysFile(path: $0).list().count, "sender") }),
            ("AUTH_USERS_FILE", true, { Doctor.counted(try UsersFile(path: $0).list().count, "user") }),
            ("AUTH_TOKEN_SIGNING_KEY_FILE", true, { "key \(try TokenSigningKey(path: $0).keyID)" }),
            ("AUTH_JWKS_FILE", false, { try Doctor.readKeySet($0) }),
            ("PUSH_SIGNING_KEY_FILE", true, { "key \(try PushSigningKey(pem: SecretFile.read($0)).publicKey.keyID)" }),
            (
                "PUSH_VERIFICATION_KEYS_FILE", false,
                { Doctor.counted(try PushKeyFiles.publicKeys($0).keys.count, "public key") }
            ),
            ("HUB_CONNECTION_STRING_FILE", true, { try SecretFile.read($0).isEmpty ? "empty" : "readable" }),
            (
                "HUB_ACCESS_FILE", true,
                { "hubs \(try HubTools.hubs(ofAccessFile: $0).joined(separator: ", "))" }
            ),
            (
                "PUSH_CREDENTIALS_FILE", false,
                {
                    let outgoing = try settings.outgoing()
                    if let problem = try HubTools.openFiles(namedByCredentialsFile: $0).first {
                        throw CommandFailure(.configuration, problem, hint: "Run chmod 600 on it.")
                    }
                    return Doctor.counted(
                        try HubTools.platforms(ofCredentialsFile: $0, outgoing: outgoing).count, "platform")
                }
            ),
            ("HUB_POOL_FILE", true, { Doctor.counted(try settings.hubPool($0).initial.hubs.count, "hub") }),
        ]
        return checks.compactMap { check in
            settings[check.key].map { Doctor.file(check.key, $0, isSecret: check.isSecret, check.read) }
        }
    }

    /// `1 key`, `2,000 keys`
    static func counted(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number.grouped) \(noun)s"
    }

    private static func file(
        _ key: String, _ path: String, isSecret: Bool, _ read: (String) throws -> String
    ) -> Finding {
        guard let mode = SecretFile.mode(path) else {
            return .failed(
                key, "\(path) does not exist", "Create it, or correct \(key). `securepush setup` creates all files.")
        }
        let content: String
        do {
            content = try read(path)
        } catch {
            let failure = CommandFailure(describing: error)
            return .failed(key, failure.message, failure.hint ?? "Correct \(path), or create it again.")
        }
        if isSecret && mode & 0o077 != 0 {
            return .failed(
                key, "other users can access \(path) (mode \(String(mode, radix: 8)))", "chmod 600 \(path)")
        }
        return .ok(key, "\(path), \(content)")
    }
}

extension Doctor {
    /// Checks that the services' TLS certificate is valid and not about to expire, and that the private key is its own.
    func certificate() async -> [Finding] {
        let key = "TLS_CERTIFICATE_FILE"
        guard let path = settings[key] else { return [] }
        guard SecretFile.exists(path) else {
            return [.failed(key, "\(path) does not exist", "Create it, or correct \(key).")]
        }
        guard let leaf = try? NIOSSLCertificate.certificates(inFile: path).first else {
            return [.failed(key, "\(path) has no PEM certificate", "Store the chain there, the leaf first.")]
        }
        let (begin, end) = (Int64(leaf.notValidBefore), Int64(leaf.notValidAfter))
        return [
            Doctor.certificate(
                path, from: Timestamp(milliseconds: begin * 1000), until: Timestamp(milliseconds: end * 1000), now: .now
            ), privateKey(ofCertificate: path),
        ]
    }

    /// Reads both files as a service does: a service refuses to start with files that fail here.
    private func privateKey(ofCertificate certificate: String) -> Finding {
        let key = "TLS_PRIVATE_KEY_FILE"
        guard let path = settings[key] else {
            return .failed(
                key, "is needed, since TLS_CERTIFICATE_FILE is set", "Set it to the file of the private key.")
        }
        guard SecretFile.exists(path) else {
            return .failed(key, "\(path) does not exist", "Create it, or correct \(key).")
        }
        do {
            try HTTPConfiguration.TLS(certificateFile: certificate, privateKeyFile: path).check()
            if FileContent.privacyProblem(ofFile: path) != nil {
                return .warning(key, "other users can access \(path)", "chmod 600 \(path)")
            }
            return .ok(key, "\(path) has the key of the certificate")
        } catch {
            let problem = (error as? ConfigurationError)?.issues.first?.problem ?? ErrorText.reason(error)
            return .failed(key, "it \(problem) (\(path))", "Name the key with which the certificate was requested.")
        }
    }

    /// A certificate should be renewed this long before it expires.
    private static let renewal = Duration.seconds(14 * 86_400)

    static func certificate(_ path: String, from begin: Timestamp, until end: Timestamp, now: Timestamp) -> Finding {
        let part = "TLS_CERTIFICATE_FILE"
        let advice = "Renew it, and restart the services that serve HTTPS."
        if now < begin {
            return .failed(part, "\(path) is not valid before \(begin)", "Check this machine's clock, or wait.")
        }
        if end <= now { return .failed(part, "\(path) expired at \(end)", advice) }
        if end - now < renewal { return .warning(part, "\(path) expires at \(end)", advice) }
        return .ok(part, "\(path) is valid until \(end)")
    }
}

extension Doctor {
    /// Checks that `AUTH_JWKS_URL` returns a JSON Web Key Set.
    func keySet() async -> [Finding] {
        let part = "AUTH_JWKS_URL"
        guard let url = settings[part] else { return [] }
        do {
            let client = try APIClient(service: "the identity provider", url: url, timeout: .seconds(5))
            let response = try await client.send(.get, "")
            guard response.isSuccess, JSONValue(text: OutsideText.withoutMark(response.body))?["keys"] != nil else {
                return [
                    .failed(
                        part, "\(PublicURL.describe(url)) answers \(response.status) without a JSON Web Key Set",
                        "Correct \(part): it must be the provider's jwks_uri.")
                ]
            }
            return [.ok(part, "\(PublicURL.describe(url)) returns a key set")]
        } catch {
            let advice = "Check the network to the provider. Until then, services refuse tokens with new keys."
            return [.fault(part, error, unreachable: advice, otherwise: "Correct \(part).")]
        }
    }

    /// Reads a key set like the services, which refuse one without a usable key.
    static func readKeySet(_ path: String) throws -> String {
        _ = try UserAuthenticator(
            configuration: UserAuthenticationConfiguration(jwksFile: path), logger: .silent)
        return "readable"
    }
}
