import ArgumentParser
import Authentication
import SecurePushCore

extension KeysCommand {
    struct Rotate: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put a new key first in a key ring: it seals from now on, the old ones still open.",
            discussion: """
                The file is replaced in one step, mode 0600, and the services read it again by themselves. Where
                retrieval has a copy of its own, copy the new file there before ingest gets it.

                Old keys are dropped by --keep or --remove, and only when no payload needs them: that is looked up in
                the database (DATABASE_URL), or taken on your word with --force where none is named. Dropping a key
                makes what it sealed unreadable for good. Exit codes: 0 done, 1 a key is still needed, 69 the database
                does not answer, 78 the file cannot be used, or there is no database and no --force.

                EXAMPLES
                  securepush keys rotate --payload-keys-file payload.keys
                  DATABASE_URL=postgres://db/securepush securepush keys rotate --keep 3
                  securepush keys rotate --no-new-key --remove 2026-01-05-9f3c04
                """)

        @Option(help: ArgumentHelp("The key ring (PAYLOAD_KEYS_FILE).", valueName: "file"))
        var payloadKeysFile: String?

        @Option(help: ArgumentHelp("Keep this many keys, the new one counted, and drop the last ones.", valueName: "n"))
        var keep: Int?

        @Option(help: ArgumentHelp("Drop this key; repeat it for more.", valueName: "keyid"))
        var remove: [String] = []

        @Flag(name: .customLong("no-new-key"), help: "Only drop keys.")
        var addsNoKey = false

        @Flag(help: "Drop keys without looking whether payloads need them; only where no database is named.")
        var force = false

        @Option(
            name: .customLong("database-url"),
            help: ArgumentHelp("sqlite:PATH, or a libpq URI without a password (DATABASE_URL).", valueName: "url"))
        var databaseURL: String?

        @OptionGroup(title: "Output") var output: OutputOptions

        struct Answer: Encodable, Equatable {
            var File: String
            /// The key that seals.
            var Sealing: String
            var Added: String?
            var Removed: [String]
        }

        func validate() throws {
            let least = addsNoKey ? 1 : 2
            if let keep, keep < least { throw ValidationError("--keep is at least \(least).") }
            if addsNoKey && keep == nil && remove.isEmpty {
                throw ValidationError("--no-new-key needs --keep or --remove.")
            }
        }

        func run(on console: Console) async throws {
            let answer = try await rotate(database: databaseURL ?? Settings()["DATABASE_URL"])
            var lines = answer.Added.map { ["added \($0) to \(answer.File), which seals from now on"] } ?? []
            lines += answer.Removed.map { "dropped \($0)" }
            try console.show(answer, lines.isEmpty ? "nothing was to be done" : lines.joined(separator: "\n"))
        }

        /// - Parameter database: `nil` where none is named.
        func rotate(database: String?) async throws -> Answer {
            let path = try FileOption.path(payloadKeysFile, "PAYLOAD_KEYS_FILE", flagName: "--payload-keys-file")
            let asked = try KeyRotation.dropping(
                from: try KeysCommand.ring(path).keyIDs, keep: keep, remove: remove, addsKey: !addsNoKey)
            try await Rotate.check(asked, database: database, isForced: force)
            return try PrivateFile.edit(path) { text in
                guard let text else { throw CommandFailure(.configuration, "\(path) cannot be read") }
                let ids = try KeysCommand.parse(text, path).keyIDs
                // Another program may have changed the file since the payloads were looked through.
                let dropped = try KeyRotation.dropping(
                    from: ids, keep: keep, remove: remove, addsKey: !addsNoKey)
                guard dropped == asked else {
                    throw CommandFailure(.failed, "\(path) was changed meanwhile; run it again.")
                }
                let rotation = KeyRotation(
                    newLine: addsNoKey ? nil : Rotate.newLine(beside: ids), dropped: Set(dropped))
                let changed = rotation.apply(to: text)
                let sealing = try KeysCommand.parse(changed, path).keyIDs[0]
                return (
                    changed, Answer(File: path, Sealing: sealing, Added: addsNoKey ? nil : sealing, Removed: dropped)
                )
            }
        }

        /// A key with an ID that is not in the ring.
        private static func newLine(beside ids: [String]) -> String {
            while true {
                let line = PayloadKeyRing.newLine()
                if !ids.contains(where: { line.hasPrefix($0 + " ") }) { return line }
            }
        }

        private static func check(_ ids: [String], database: String?, isForced: Bool) async throws {
            if ids.isEmpty { return }
            guard let database else {
                if isForced { return }
                throw CommandFailure(
                    .configuration, "Whether payloads need \(ids.joined(separator: ", ")) cannot be looked up.",
                    hint: "Set DATABASE_URL as the services have it, or add --force if you are certain.")
            }
            let needed = try await StoreSession.with(database) { store in
                var needed: [String] = []
                for id in ids {
                    let count = try await store.payloads(sealedWith: id, limit: 10_000, now: .now)
                    let figure = count == 10_000 ? "10,000 or more" : count.grouped
                    if count > 0 { needed.append("\(id): \(figure) payloads") }
                }
                return needed
            }
            guard needed.isEmpty else {
                throw CommandFailure(
                    .failed, "Payloads still need keys that were to be dropped; nothing was changed.", details: needed,
                    hint: "Wait until these payloads have expired.")
            }
        }
    }
}

/// A change of a key ring file's text: a new key first, old ones dropped. Comments and blank lines stay.
struct KeyRotation: Sendable, Equatable {
    /// The line of the key that seals from now on; `nil` for none.
    var newLine: String?
    /// The IDs of keys to drop.
    var dropped: Set<String> = []

    /// The IDs that `--keep` and `--remove` ask to drop, in the order of the file.
    ///
    /// - Parameter keep: how many keys remain, the new one counted.
    /// - Throws: ``CommandFailure`` for an ID that is not there, and for a key that cannot be dropped: the one that
    ///   seals, or has sealed until now, for services may do so until they have read the file again.
    static func dropping(
        from ids: [String], keep: Int?, remove: [String], addsKey: Bool
    ) throws -> [String] {
        for id in remove where !ids.contains(id) {
            throw CommandFailure(.failed, "The key ring has no key \(id.printable).")
        }
        let kept = keep.map { max(1, addsKey ? $0 - 1 : $0) } ?? ids.count
        let dropped = ids.enumerated().filter { $0.offset >= kept || remove.contains($0.element) }.map(\.element)
        if let sealing = ids.first, dropped.contains(sealing) {
            throw CommandFailure(
                .failed, "The key \(sealing) \(addsKey ? "has sealed until now" : "seals") and cannot be dropped.",
                hint: "Rotate first; drop it when no payload needs it any more.")
        }
        return dropped
    }

    func apply(to text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeAll { line in KeyRotation.id(of: line).map(dropped.contains) ?? false }
        if let newLine {
            let first = lines.firstIndex { KeyRotation.id(of: $0) != nil } ?? lines.count
            lines.insert(newLine, at: first)
        }
        let changed = lines.joined(separator: "\n")
        return changed.hasSuffix("\n") ? changed : changed + "\n"
    }

    /// The ID of a line with a key; `nil` for a comment or a blank line.
    private static func id(of line: String) -> String? {
        let field = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }.first
        return field.flatMap { $0.hasPrefix("#") ? nil : String($0) }
    }
}
