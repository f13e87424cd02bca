import ArgumentParser
import Authentication
import Hub

/// Commands about your own hub. `hubs` is about the hubs through which SecurePush sends.
struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Make, check and watch a notification hub of your own (the service hub).",
        discussion: """
            EXAMPLES
              securepush hub vapid-key --out vapid.pem
              securepush hub create securepush --access-file hub-access
              securepush hub check
              securepush hub devices securepush
              securepush hub import export.txt --hub securepush
              securepush hub lanes
            """,
        subcommands: [Create.self, Check.self, Devices.self, Import.self, Lanes.self, VAPIDKey.self])

    struct Create: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a hub to the file of rules, and print its connection strings once.",
            discussion: """
                Adds three rules: dispatcher (Send), retrieval (Manage) and apps (Listen), each with a new key. A \
                missing file is made, with mode 0600. A running hub reads the file again within a second. To remove a \
                hub or a rule, remove its lines; its devices stay in the database.

                EXAMPLES
                  securepush hub create securepush --access-file hub-access
                  securepush hub create staging --endpoint https://hub.example.org --json
                """)

        @Argument(help: "The name of the hub: letters, digits, -, . and _.") var name: String

        @Option(
            help: ArgumentHelp("The file of the rules (HUB_ACCESS_FILE).", valueName: "file"), completion: .file(),
            transform: filePath)
        var accessFile: String?

        @Option(help: ArgumentHelp("The URL of the hub in the connection strings.", valueName: "url"))
        var endpoint = ServiceURL.hub.standard

        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("hub.create", name) }

        private struct Row: Encodable {
            var rule: String
            var rights: String
            var connectionString: String
        }

        func validate() throws {
            guard endpoint.hasPrefix("https://") || endpoint.hasPrefix("http://"), !endpoint.contains(";") else {
                throw ValidationError("--endpoint must be an http:// or https:// URL.")
            }
        }

        func run(on console: Console) async throws {
            let path = try Settings().path(accessFile, "HUB_ACCESS_FILE", flag: "--access-file", "file of rules")
            try CommandFailure.naming(accessFile == nil ? "HUB_ACCESS_FILE" : "--access-file") {
                try PrivateFile.edit(path) { text in
                    let (text, rules) = try HubTools.adding(name, to: text)
                    let rows = rules.map { rule in
                        Row(
                            rule: rule.name, rights: rule.rights,
                            connectionString: ConnectionString.text(endpoint, rule: rule.name, key: rule.key))
                    }
                    // Shown first: a key that is stored and was not seen would have to be looked up in the file.
                    let lines = rows.map { "\($0.rule) (\($0.rights)): \($0.connectionString)" }
                    try console.showOnce(rows, lines.joined(separator: "\n"))
                    return (text, ())
                }
            }
            console.message(
                "Each string is shown only once. Give the first to the dispatcher and the second to retrieval, as "
                    + "HUB_CONNECTION_STRING, with HUB_NAME=\(name).")
        }
    }

    struct VAPIDKey: AuditedCommand {
        static let configuration = CommandConfiguration(
            commandName: "vapid-key",
            abstract: "Make a key for Web Push (VAPID), and print its public key.",
            discussion: """
                The file is webPush.privateKeyFile of PUSH_CREDENTIALS_FILE: P-256 in PKCS#8 PEM, mode 0600. The public \
                key is WEB_PUSH_PUBLIC_KEY of retrieval, which gives it to apps. Subscriptions are bound to the key: \
                when you replace it, name the old file in previousPrivateKeyFiles.

                EXAMPLES
                  securepush hub vapid-key --out vapid.pem
                """)

        @Option(
            help: ArgumentHelp("The file of the private key, which must not exist.", valueName: "file"),
            completion: .file(), transform: filePath)
        var out = "vapid.pem"

        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("hub.vapid-key", nil) }

        private struct Report: Encodable {
            var file: String
            var publicKey: String
        }

        func run(on console: Console) async throws {
            let key = try Self.make(out)
            try console.show(Report(file: out, publicKey: key), key)
            if !console.isJSON { console.message("made \(out.printable)") }
        }

        /// Makes a key in a new file.
        ///
        /// - Returns: the public key in base64url.
        /// - Throws: ``CommandFailure`` if the file exists.
        static func make(_ path: String) throws -> String {
            let key = HubTools.newVAPIDKey()
            guard try SecretFile.create(path, key.pem) else {
                throw CommandFailure(
                    .failed, "\(path.printable) exists and was not changed.",
                    hint: "Subscriptions are bound to its key. Give another file with --out.")
            }
            return key.publicKey
        }
    }
}

/// The form in which clients take a hub's address and key.
enum ConnectionString {
    static func text(_ endpoint: String, rule: String, key: String) -> String {
        let slash = endpoint.hasSuffix("/") ? "" : "/"
        return "Endpoint=\(endpoint)\(slash);SharedAccessKeyName=\(rule);SharedAccessKey=\(key)"
    }
}
