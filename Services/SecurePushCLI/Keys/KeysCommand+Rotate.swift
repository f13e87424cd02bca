import ArgumentParser
import Authentication
import Domain
import Foundations

extension KeysCommand {
    struct Rotate: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a new key to a key ring, or replace the key that signs pushes. Old keys stay valid.",
            discussion: """
                The new key seals new payloads; the old keys still open theirs. The file is replaced atomically, with \
                mode 0600. The services reload it by themselves. If retrieval has its own copy, update that copy first \
                and ingest's second.

                --keep and --remove drop old keys that no payload needs any more. The command checks that in the \
                database (DATABASE_URL); without a database it needs --force. Payloads of a dropped key can never be \
                opened again. Exit codes: 0 done, 1 a payload still needs a key, 69 the database does not answer, 78 \
                the file is invalid, or there is no database and no --force.

                With --push it puts a new key first in the set of public keys, keeps the old ones, and replaces the \
                private key. Copy the public keys to retrieval before the dispatcher gets the private key.

                EXAMPLES
                  securepush keys rotate --payload-keys-file payload.keys
                  DATABASE_URL=postgres://db/securepush securepush keys rotate --keep 3
                  securepush keys rotate --no-new-key --remove 2026-01-05-9f3c04
                  securepush keys rotate --push
                """)

        @Option(
            help: ArgumentHelp("The key ring (PAYLOAD_KEYS_FILE).", valueName: "file"), completion: .file(),
            transform: filePath)
        var payloadKeysFile: String?

        @Option(help: ArgumentHelp("Keep this many keys, including the new one, and drop the oldest.", valueName: "n"))
        var keep: Int?

        @Option(help: ArgumentHelp("Drop this key. Repeat it for more.", valueName: "keyid"))
        var remove: [String] = []

        @Flag(name: .customLong("no-new-key"), help: "Only drop keys.")
        var addsNoKey = false

        @Flag(help: "Drop keys without checking whether payloads need them. Has no effect if a database is given.")
        var force = false

        @OptionGroup(title: "Pushes") var pushKeys: PushKeyOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("keys.rotate", nil) }

        struct Report: Encodable, Equatable {
            var file: String
            /// The ID of the key that seals.
            var sealing: String
            var added: String?
            var removed: [String]
        }

        func validate() throws {
            try requireRange("--keep", keep, (addsNoKey ? 1 : 2) ... .max)
            if pushKeys.push && (payloadKeysFile != nil || !remove.isEmpty || addsNoKey || force) {
                throw ValidationError("Of the options of a key ring, --push takes only --keep.")
            }
            if addsNoKey && keep == nil && remove.isEmpty {
                throw ValidationError("--no-new-key needs --keep or --remove.")
            }
        }

        func run(on console: Console) async throws {
            if pushKeys.push {
                let report = try pushKeys.files().rotate(keep: keep)
                let lines = ["the key \(report.signing) signs from now on"] + report.removed.map { "dropped \($0)" }
                return try console.show(report, lines.joined(separator: "\n"))
            }
            let report = try await rotate(database: database.urlIfGiven)
            var lines = report.added.map { ["added \($0) to \(report.file); it seals from now on"] } ?? []
            lines += report.removed.map { "dropped \($0)" }
            try console.show(report, lines.isEmpty ? "nothing to do" : lines.joined(separator: "\n"))
        }

        /// - Parameter database: the URL; `nil` if none is given.
        func rotate(database: String?) async throws -> Report {
            let path = try KeysCommand.path(payloadKeysFile)
            let asked = try KeyRotation.dropping(
                from: try KeysCommand.ring(path, of: KeysCommand.origin(payloadKeysFile)).keyIDs, keep: keep,
                remove: remove, addsKey: !addsNoKey)
            try await Rotate.check(asked, database: database, isForced: force)
            let report = try PrivateFile.edit(path) { text in
                guard let text else { throw CommandFailure(.configuration, "Cannot read \(path).") }
                let ids = try KeysCommand.parse(text, path).keyIDs
                let dropped = try KeyRotation.dropping(
                    from: ids, keep: keep, remove: remove, addsKey: !addsNoKey)
                guard dropped == asked else {
                    throw CommandFailure(.failed, "Another program changed \(path). Run the command again.")
                }
                let rotation = KeyRotation(
                    newLine: addsNoKey ? nil : Rotate.newLine(beside: ids), dropped: Set(dropped))
                let changed = rotation.apply(to: text)
                let ring = try KeysCommand.parse(changed, path).keyIDs
                guard ring.filter(ids.contains) == ids.filter({ !dropped.contains($0) }) else {
                    throw CommandFailure(.failed, "The keys of \(path) cannot be dropped. Nothing was changed.")
                }
                let sealing = ring[0]
                return (
                    changed, Report(file: path, sealing: sealing, added: addsNoKey ? nil : sealing, removed: dropped)
                )
            }
            let written = try KeysCommand.ring(path, of: KeysCommand.origin(payloadKeysFile)).keyIDs
            guard written.first == report.sealing, !written.contains(where: report.removed.contains) else {
                throw CommandFailure(
                    .failed, "\(path) does not have the keys that were written. Another program may have changed it.",
                    hint: "Look at its key IDs before you run the command again.")
            }
            return report
        }

        /// A new key whose ID is not in the ring.
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
                    .configuration, "Cannot check whether payloads need \(ids.joined(separator: ", ")).",
                    hint: "Set DATABASE_URL as for the services, or add --force if you are certain.")
            }
            let counts = try await StoreSession.with(database) { try await $0.payloadKeys(now: .now) }
            let needed = ids.compactMap { id in counts[id].map { "\(id): \(Doctor.counted($0, "payload"))" } }
            guard needed.isEmpty else {
                throw CommandFailure(
                    .failed, "Payloads still need keys that would be dropped. Nothing was changed.", details: needed,
                    hint: "Wait until these payloads have expired.")
            }
        }
    }
}

/// Edits the text of a key ring file: adds a key at the top and drops keys. Keeps comments and blank lines.
struct KeyRotation: Sendable, Equatable {
    /// The line of the new key, which seals from now on; `nil` to add none.
    var newLine: String?
    var dropped: Set<String> = []

    /// The IDs that `--keep` and `--remove` drop, in the order of the file.
    ///
    /// - Parameter keep: the number of keys to keep, including the new one.
    /// - Throws: ``CommandFailure`` for an unknown ID, and for the key that seals or has sealed until now: services use
    ///   it until they have reloaded the file.
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
                hint: "Rotate the keys first. Drop this key when no payload needs it any more.")
        }
        return dropped
    }

    func apply(to text: String) -> String {
        var lines = OutsideText.lines(text)
        lines.removeAll { line in KeyRotation.id(of: line).map(dropped.contains) ?? false }
        if let newLine {
            let first = lines.firstIndex { KeyRotation.id(of: $0) != nil } ?? lines.count
            lines.insert(newLine, at: first)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The ID of a key's line; `nil` for a comment or a blank line.
    private static func id(of line: String) -> String? {
        let field = line.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
        return field.first.flatMap { $0.first == UInt8(ascii: "#") ? nil : String(Substring($0)) }
    }
}
