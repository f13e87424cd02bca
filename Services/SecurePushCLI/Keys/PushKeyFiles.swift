import ArgumentParser
import Authentication
import Domain
import Foundation

/// The options of commands that make or rotate the keys of pushes.
struct PushKeyOptions: ParsableArguments {
    @Flag(help: "The keys of signed pushes: a private key for the dispatcher, and a set of public keys for retrieval.")
    var push = false

    @Option(
        help: ArgumentHelp(
            "The private key (PUSH_SIGNING_KEY_FILE; else push-signing-key.pem). Needs --push.", valueName: "file"),
        completion: .file(), transform: filePath)
    var pushSigningKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "The public keys (PUSH_VERIFICATION_KEYS_FILE; else push-verification-keys.json). Needs --push.",
            valueName: "file"), completion: .file(), transform: filePath)
    var pushVerificationKeysFile: String?

    func validate() throws {
        guard !push, pushSigningKeyFile != nil || pushVerificationKeysFile != nil else { return }
        throw ValidationError("--push-signing-key-file and --push-verification-keys-file need --push.")
    }

    /// The files: those of the flags, else of the settings, else in the working folder.
    func files(_ settings: Settings = Settings()) -> PushKeyFiles {
        PushKeyFiles(
            signing: pushSigningKeyFile ?? settings["PUSH_SIGNING_KEY_FILE"] ?? "push-signing-key.pem",
            verification: pushVerificationKeysFile ?? settings["PUSH_VERIFICATION_KEYS_FILE"]
                ?? "push-verification-keys.json")
    }
}

struct PushKeyFiles: Sendable, Equatable {
    /// The private key; only its owner can read it.
    var signing: String
    /// The public keys, the newest first. Everybody may read them.
    var verification: String

    struct Report: Encodable, Equatable {
        var files: [String]
        /// The ID of the key that signs.
        var signing: String
        /// The IDs of the public keys that were dropped.
        var removed: [String] = []
    }

    /// Makes both files.
    ///
    /// - Throws: ``CommandFailure`` if one of them exists. Nothing is changed then.
    func generate() throws -> Report {
        let key = PushSigningKey()
        let files = try KeysCommand.make(
            signing, String(key.pem.dropLast()), public: (verification, PushVerificationKeys(key.publicKey).jwks),
            hint: "To replace the key, run `securepush keys rotate --push`. Devices then accept both keys.")
        return Report(files: files, signing: key.publicKey.keyID)
    }

    /// Puts a new key first, and keeps the old public keys: devices accept pushes that the old key has signed.
    ///
    /// The public keys are written first. If the command ends before the private key is replaced, the set has one key
    /// too many, which does no harm.
    ///
    /// - Parameter keep: the number of public keys to keep, with the new one; `nil` keeps all.
    /// - Throws: ``CommandFailure`` with code `configuration` if a file cannot be used. Nothing is changed then.
    func rotate(keep: Int?) throws -> Report {
        try PrivateFile.edit(signing) { text in
            guard let text else {
                throw CommandFailure(
                    .configuration, "There is no file \(signing).", hint: "Run `securepush keys generate --push`.")
            }
            let old = try KeysCommand.reading(signing) { try PushSigningKey(pem: text) }.publicKey
            let known = SecretFile.exists(verification) ? try PushKeyFiles.publicKeys(verification) : nil
            let key = PushSigningKey()
            let all = (known?.adding(old) ?? PushVerificationKeys(old)).adding(key.publicKey)
            let kept = keep.map(all.keeping) ?? all
            try writePublic(kept)
            let report = Report(
                files: [signing, verification], signing: key.publicKey.keyID,
                removed: (known?.keys ?? []).filter { !kept.keys.contains($0) }.map(\.keyID))
            return (key.pem, report)
        }
    }

    static func publicKeys(_ path: String) throws -> PushVerificationKeys {
        let text = try SecretFile.read(path)
        return try KeysCommand.reading(path) { try PushVerificationKeys(jwks: text) }
    }

    private func writePublic(_ keys: PushVerificationKeys) throws {
        // A link has all permissions; whoever may read the file still may, and only its owner writes it.
        let mode = SecretFile.mode(verification).map { UInt32($0) & 0o644 } ?? 0o644
        _ = try SecretFile.replace(verification, keys.jwks, mode: mode)
    }
}
