import ArgumentParser
import Authentication
import Domain
import SecurePushEnvelope

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and rotate the keys that seal payloads and sign pushes.",
        discussion: """
            EXAMPLES
              securepush keys generate --payload-keys-file payload.keys
              securepush keys generate --signing-key signing-key.pem --jwks jwks.json
              securepush keys generate --push
              securepush keys list --payload-keys-file payload.keys
              securepush keys rotate --payload-keys-file payload.keys --keep 3
            """,
        subcommands: [Generate.self, List.self, Rotate.self])

    struct Generate: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Make a payload key ring with one key, or keys that sign tokens or pushes. Never overwrites files.",
            discussion: """
                With --push it makes a private key for the dispatcher, with mode 0600, and a set of public keys, which \
                retrieval shows to devices. With --sender it makes a private key for `securepush send` and \
                a set of public keys (senderKeys) for your apps.

                EXAMPLES
                  securepush keys generate --payload-keys-file payload.keys
                  securepush keys generate --signing-key signing-key.pem --jwks jwks.json
                  securepush keys generate --push
                  securepush keys generate --sender
                """)

        @Option(
            help: ArgumentHelp("The new key ring (PAYLOAD_KEYS_FILE).", valueName: "file"), completion: .file(),
            transform: filePath)
        var payloadKeysFile: String?

        @Option(
            help: ArgumentHelp("Make a token signing key (PKCS#8 PEM, P-256) instead.", valueName: "file"),
            completion: .file(), transform: filePath)
        var signingKey: String?

        @Option(
            help: ArgumentHelp("The JWKS document for its public key.", valueName: "file"), completion: .file(),
            transform: filePath)
        var jwks: String?

        @Flag(
            help:
                "Make a sender's key: a private key (--signing-key, else sender-key.pem), and public keys for apps (--jwks, else sender-keys.json)."
        )
        var sender = false

        @OptionGroup(title: "Pushes") var pushKeys: PushKeyOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("keys.generate", nil) }

        func validate() throws {
            if sender {
                if pushKeys.push || payloadKeysFile != nil {
                    throw ValidationError("Give --sender without --payload-keys-file and --push.")
                }
                return
            }
            if (signingKey == nil) != (jwks == nil) {
                throw ValidationError("Give --signing-key and --jwks together.")
            }
            if pushKeys.push && (signingKey != nil || payloadKeysFile != nil) {
                throw ValidationError("Give --push without --payload-keys-file and --signing-key.")
            }
            if signingKey != nil && payloadKeysFile != nil {
                throw ValidationError(
                    "Give either --payload-keys-file or --signing-key. Run the command twice for both.")
            }
        }

        func run(on console: Console) async throws {
            struct Report: Encodable {
                var files: [String]
            }
            let made: [String]
            if sender {
                let key = SenderKey()
                made = try KeysCommand.make(
                    signingKey ?? "sender-key.pem", key.pem, public: (jwks ?? "sender-keys.json", key.jwkSet))
            } else if pushKeys.push {
                made = try pushKeys.files().generate().files
            } else if let signingKey, let jwks {
                let key = try TokenSigningKey()
                made = try KeysCommand.make(signingKey, key.pem, public: (jwks, key.publicJWKS))
            } else {
                made = try KeysCommand.make(KeysCommand.path(payloadKeysFile), PayloadKeyRing.newLine())
            }
            try console.show(Report(files: made), made.map { "made \($0)" }.joined(separator: "\n"))
        }
    }

    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the IDs of a key ring's keys, the sealing key first. Never prints keys.",
            discussion: """
                EXAMPLES
                  securepush keys list --payload-keys-file payload.keys
                  securepush keys list --json
                """)

        @Option(
            help: ArgumentHelp("The key ring (PAYLOAD_KEYS_FILE).", valueName: "file"), completion: .file(),
            transform: filePath)
        var payloadKeysFile: String?

        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            struct Row: Encodable {
                var id: String
                var seals: Bool
            }
            let ring = try KeysCommand.ring(
                KeysCommand.path(payloadKeysFile), of: KeysCommand.origin(payloadKeysFile))
            for (index, id) in ring.keyIDs.enumerated() {
                try console.show(Row(id: id, seals: index == 0), index == 0 ? "\(id)  seals" : id)
            }
        }
    }

    static func path(_ file: String?) throws -> String {
        try Settings().path(file, "PAYLOAD_KEYS_FILE", flag: "--payload-keys-file", "key ring")
    }

    /// The option or the variable that names the key ring, for messages.
    static func origin(_ file: String?) -> String {
        (file ?? "").isEmpty ? "PAYLOAD_KEYS_FILE" : "--payload-keys-file"
    }

    /// - Parameter option: names the file in the message if it cannot be read.
    static func ring(_ path: String, of option: String? = nil) throws -> PayloadKeyRing {
        try parse(try SecretFile.read(path, of: option), path)
    }

    static func parse(_ text: String, _ path: String) throws -> PayloadKeyRing {
        try reading(path) { try PayloadKeyRing(text) }
    }

    /// - Throws: ``CommandFailure`` with code `configuration` if the content of the file is not valid.
    static func reading<Value>(_ path: String, _ parse: () throws -> Value) throws -> Value {
        do {
            return try parse()
        } catch {
            throw CommandFailure(.configuration, "\(path): \(error)")
        }
    }

    /// Makes a file with a secret key, which only its owner can read, and one with its public key, which everybody may
    /// read.
    ///
    /// - Returns: the paths.
    /// - Throws: ``CommandFailure`` with code `failed` if a file exists. Nothing is changed then.
    static func make(
        _ path: String, _ key: String, public publicKey: (path: String, text: String)? = nil,
        hint: String = "Payloads and tokens of a lost key are lost too. To replace the key anyway, move the file away."
    ) throws -> [String] {
        let paths = [path] + (publicKey.map { [$0.path] } ?? [])
        let failure = { (path: String) in CommandFailure(.failed, "\(path) exists and was not changed.", hint: hint) }
        for path in paths where SecretFile.exists(path) { throw failure(path) }
        guard try SecretFile.create(path, key) else { throw failure(path) }
        if let (path, text) = publicKey, try !SecretFile.create(path, text, mode: 0o644) { throw failure(path) }
        return paths
    }
}

extension TokenIssuer {
    /// - Parameter option: the option or the variable that names the file with the signing key, for messages.
    /// - Throws: ``CommandFailure`` with code `configuration` if the file has no signing key.
    static func make(_ configuration: UserAuthenticationConfiguration, of option: String) throws -> TokenIssuer {
        let issuer: TokenIssuer?
        do {
            issuer = try TokenIssuer(configuration: configuration)
        } catch {
            throw CommandFailure(.configuration, "\(option): \(CommandFailure(describing: error).message)")
        }
        guard let issuer else { throw CommandFailure(.configuration, "\(option): there is no signing key.") }
        return issuer
    }
}
