import Authentication
import Logging
import SecurePushCore

extension Doctor {
    /// The files of keys, users and credentials: there, readable, in form, and closed to others.
    func files() async -> [Finding] {
        let checks: [(key: String, isSecret: Bool, read: @Sendable (String) throws -> String)] = [
            ("PAYLOAD_KEYS_FILE", true, { "\(try KeysCommand.ring($0).keyIDs.count) keys" }),
            ("INGEST_API_KEYS_FILE", true, { "\(try APIKeysFile(path: $0).list().count) senders" }),
            ("AUTH_USERS_FILE", true, { "\(try UsersFile(path: $0).list().count) users" }),
            ("AUTH_TOKEN_SIGNING_KEY_FILE", true, { "key \(try TokenSigningKey(path: $0).keyID)" }),
            ("AUTH_JWKS_FILE", false, { try Doctor.readKeySet($0) }),
            (
                "HUB_CONNECTION_STRING_FILE", true,
                {
                    _ = try SecretFile.read($0); return "readable"
                }
            ),
        ]
        return checks.compactMap { check in
            settings[check.key].map { Doctor.file(check.key, $0, isSecret: check.isSecret, check.read) }
        }
    }

    static func file(
        _ key: String, _ path: String, isSecret: Bool, _ read: (String) throws -> String
    ) -> Finding {
        guard let mode = SecretFile.mode(path) else {
            return .faulty(
                key, "there is no file \(path)", "Make it, or correct \(key); `securepush setup` makes a set.")
        }
        let content: String
        do {
            content = try read(path)
        } catch {
            let failure = CommandFailure(describing: error)
            return .faulty(key, failure.message, failure.hint ?? "Correct \(path), or make it anew.")
        }
        if isSecret && mode & 0o077 != 0 {
            return .faulty(key, "\(path) is open to others (mode \(String(mode, radix: 8)))", "chmod 600 \(path)")
        }
        return .ok(key, "\(path), \(content)")
    }
}
