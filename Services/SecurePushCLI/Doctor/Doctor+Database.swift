import Domain
import Foundation
import Foundations
import Storage

extension Doctor {
    /// Checks that the database answers and has the schema of this program, and that the key ring has the keys of what
    /// is stored.
    func database() async -> [Finding] {
        let part = "DATABASE_URL"
        guard let url = settings[part] else { return [] }
        if let path = StoreSession.missingFile(url) {
            let advice = "Correct DATABASE_URL. `securepush migrate --create`, or a service, makes a new database."
            return [.failed(part, "there is no database at \(path)", advice)]
        }
        do {
            try Settings.requireReadable(url, of: part)
            let configuration = try StorageConfiguration(url: url)
            // An unusable key ring is reported with the files.
            let ring = settings["PAYLOAD_KEYS_FILE"].flatMap { try? KeysCommand.ring($0) }
            let keys = try await StoreSession.with(url) { store in
                guard let ring else { return [Finding]() }
                return await Doctor.keys(ring, store)
            }
            let disk = Doctor.freeSpace(of: url).flatMap { Doctor.disk(part, free: $0) }
            return [.ok(part, "\(configuration) answers and has the current schema")] + [disk].compactMap(\.self) + keys
        } catch {
            let advice = CommandFailure(describing: error).hint ?? "Correct DATABASE_URL."
            return [.fault(part, error, unreachable: advice, otherwise: advice)]
        }
    }

    /// The free space of the disk of a SQLite file, in bytes. Only PostgreSQL's server knows its own.
    private static func freeSpace(of url: String) -> Int64? {
        guard url.hasPrefix("sqlite:") else { return nil }
        let path = String(url.dropFirst("sqlite:".count))
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }

    /// A finding about a disk that is full, or soon will be.
    static func disk(_ part: String, free: Int64) -> Finding? {
        let megabytes = free / 1_000_000
        if megabytes >= 500 { return nil }
        let left = "the disk of the database has \(megabytes) MB left"
        // The largest request takes 8 MiB, and again in the log of SQLite.
        return megabytes < 20
            ? .failed(part, left, "Free some space: ingest refuses notifications that it cannot store.")
            : .warning(part, left, "Free some space before it is full.")
    }

    /// Whether every payload that can still be read can be opened.
    private static func keys(_ ring: PayloadKeyRing, _ store: any Store) async -> [Finding] {
        let part = "PAYLOAD_KEYS_FILE"
        do {
            let missing = ring.missingKeys(try await store.payloadKeys(now: .now))
            if missing.isEmpty { return [.ok(part, "the key ring has the keys of all stored payloads")] }
            return missing.map { .failed(part, $0, "Put the line of this key back, from your copy of the key ring.") }
        } catch {
            return [
                .warning(
                    part,
                    "it cannot be compared with the stored payloads: \(CommandFailure(describing: error).message)",
                    "Use a database role that may read payloads: that of retrieval, ingest or the command line.")
            ]
        }
    }
}
