import ArgumentParser
import Authentication
import SecurePushCore

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and rotate the keys that payloads are sealed with.",
        discussion: """
            EXAMPLES
              securepush keys generate --payload-keys-file payload.keys
              securepush keys generate --signing-key signing-key.pem --jwks jwks.json
              securepush keys list --payload-keys-file payload.keys
              securepush keys rotate --payload-keys-file payload.keys --keep 3
            """,
        subcommands: [Generate.self, List.self, Rotate.self])

    struct Generate: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a payload key ring with one key, or a signing key for tokens; never overwrites.",
            discussion: """
                EXAMPLES
                  securepush keys generate --payload-keys-file payload.keys
                  securepush keys generate --signing-key signing-key.pem --jwks jwks.json
                """)

        @Option(help: ArgumentHelp("The key ring to make (PAYLOAD_KEYS_FILE).", valueName: "file"))
        var payloadKeysFile: String?

        @Option(help: ArgumentHelp("Make a token signing key (PKCS#8 PEM, P-256) instead.", valueName: "file"))
        var signingKey: String?

        @Option(help: ArgumentHelp("Where its public key goes, as a JWKS document.", valueName: "file"))
        var jwks: String?

        @OptionGroup(title: "Output") var output: OutputOptions

        func validate() throws {
            if (signingKey == nil) != (jwks == nil) {
                throw ValidationError("--signing-key and --jwks go together.")
            }
            if signingKey != nil && payloadKeysFile != nil {
                throw ValidationError("Make the payload keys and the signing key one after the other.")
            }
        }

        func run(on console: Console) async throws {
            struct Answer: Encodable { var Files: [String] }
            let made: [String]
            if let signingKey, let jwks {
                for path in [signingKey, jwks] where SecretFile.exists(path) { throw KeysCommand.exists(path) }
                try SigningKeyFiles.make(signingKey: signingKey, jwks: jwks)
                made = [signingKey, jwks]
            } else {
                let path = try FileOption.path(payloadKeysFile, "PAYLOAD_KEYS_FILE", flagName: "--payload-keys-file")
                guard try SecretFile.create(path, PayloadKeyRing.newLine()) else { throw KeysCommand.exists(path) }
                made = [path]
            }
            try console.show(Answer(Files: made), made.map { "made \($0)" }.joined(separator: "\n"))
        }
    }

    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the IDs of a key ring's keys, the sealing one first; never the keys.",
            discussion: """
                EXAMPLES
                  securepush keys list --payload-keys-file payload.keys
                  securepush keys list --json
                """)

        @Option(help: ArgumentHelp("The key ring (PAYLOAD_KEYS_FILE).", valueName: "file"))
        var payloadKeysFile: String?

        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            struct Row: Encodable {
                var Id: String
                var Seals: Bool
            }
            let path = try FileOption.path(payloadKeysFile, "PAYLOAD_KEYS_FILE", flagName: "--payload-keys-file")
            for (index, id) in try KeysCommand.ring(path).keyIDs.enumerated() {
                try console.show(Row(Id: id, Seals: index == 0), index == 0 ? "\(id)  seals" : id)
            }
        }
    }

    static func ring(_ path: String) throws -> PayloadKeyRing { try parse(try SecretFile.read(path), path) }

    static func parse(_ text: String, _ path: String) throws -> PayloadKeyRing {
        do {
            return try PayloadKeyRing(text)
        } catch {
            throw CommandFailure(.configuration, "\(path): \(error)")
        }
    }

    private static func exists(_ path: String) -> CommandFailure {
        CommandFailure(
            .failed, "\(path) is there already and was left as it is.",
            hint: "What was sealed or signed with a key is lost with it; move the file away if that is meant.")
    }
}

/// The token signing key and the JWKS document of its public key.
enum SigningKeyFiles {
    /// Makes what is missing of both; an existing key is kept, and its document made from it.
    static func make(signingKey: String, jwks: String) throws {
        if !SecretFile.exists(signingKey) { try TokenSigningKey.make(at: signingKey) }
        if !SecretFile.exists(jwks) { try SecretFile.create(jwks, try TokenSigningKey(path: signingKey).publicJWKS) }
    }
}
