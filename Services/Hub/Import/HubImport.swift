package import Foundations
import Logging
package import OutgoingHTTP
import PushServices
package import Storage

/// Reads an export of Azure Notification Hubs into the tables of a hub.
///
/// It reads the lines in batches. Each batch and the place where it ends are stored in one transaction, so an
/// interrupted import continues, and a repeated one changes nothing.
package struct HubImport: Sendable {
    /// A line that was not imported.
    package struct BadLine: Sendable, Hashable {
        package let line: Int
        /// Without values of the line.
        package let reason: String
    }

    /// The progress of an import.
    package struct State: Sendable, Hashable {
        package var progress: HubImportProgress
        /// The size of the file, in bytes.
        package var size: Int
        /// How many bytes and lines earlier runs have imported.
        package var formerBytes: Int
        package var formerLines: Int

        package var isDone: Bool { progress.bytes >= size }

        /// The start of a run.
        package init(_ progress: HubImportProgress, size: Int) {
            (self.progress, self.size) = (progress, size)
            (formerBytes, formerLines) = (progress.bytes, progress.lines)
        }
    }

    /// The tables of the hub, and how the import begins there.
    package struct Target: Sendable {
        let tables: HubTables
        let exportedAt: Timestamp?
        let restarts: Bool

        /// - Parameters:
        ///   - exportedAt: when the export was made; `nil`: as the file says, or as the interrupted import took it.
        ///   - restarts: whether to read a file again that was imported before.
        package init(_ tables: HubTables, exportedAt: Timestamp?, restarts: Bool) {
            (self.tables, self.exportedAt, self.restarts) = (tables, exportedAt, restarts)
        }
    }

    private let path: String
    private let hub: String
    /// The platforms whose addresses are checked.
    private let connectors: [NotificationFormat: any PushConnector]

    /// After so many bad lines without a good one, the file is no export.
    private static let maxBadStart = 500

    /// - Parameters:
    ///   - hub: the name of the hub.
    ///   - credentialsFile: `PUSH_CREDENTIALS_FILE`, by whose rules addresses are checked; `nil`: they are not checked.
    /// - Throws: ``FileError`` for a file that cannot be used.
    package init(
        path: String, hub: String, credentialsFile: String?, outgoing: OutgoingConfiguration
    ) throws(FileError) {
        _ = try ExportFile(path: path)
        (self.path, self.hub) = (path, hub.lowercased())
        connectors =
            if let credentialsFile {
                try HubTools.connectors(ofCredentialsFile: credentialsFile, hub: hub, outgoing: outgoing)
            } else { [:] }
    }

    /// Whether the addresses of a platform are checked at all.
    package var checksAddresses: Bool { !connectors.isEmpty }

    /// Imports the file, or the rest of it.
    ///
    /// - Parameters:
    ///   - target: `nil`: only reads and checks the file.
    ///   - shouldStop: is called between batches; the batches before stay imported.
    ///   - bad: gets the lines of a batch that are not imported, before the others are stored.
    ///   - report: is called after each batch.
    /// - Returns: the progress.
    /// - Throws: ``StorageError``, ``FileError``, and what `bad` throws.
    package func run(
        _ target: Target?, now: Timestamp = .now, shouldStop: () -> Bool = { false },
        bad: ([BadLine]) throws -> Void, report: (State) -> Void
    ) async throws -> State {
        let file = try ExportFile(path: path)
        let fingerprint = target == nil ? "" : try file.fingerprint()
        let assumed = min(file.modifiedAt, now)
        let begun = try await target?.tables.beginImport(
            of: fingerprint, hub: hub, exportedAt: target?.exportedAt, assumed: assumed,
            restarts: target?.restarts ?? false, now: now)
        let start = begun ?? HubImportProgress(exportedAt: assumed)
        var state = State(start, size: file.size)
        report(state)
        var reader = ExportReader(file, from: start, now: now, connectors: connectors)
        var next = try reader.batch()
        while let batch = next, !shouldStop() {
            try Task.checkCancellation()
            if !batch.bad.isEmpty { try bad(batch.bad) }
            // While the database stores a batch, the next one is read.
            let done = state.progress
            async let stored = store(batch, after: done, target, fingerprint)
            next = try reader.batch()
            let (progress, refused) = try await stored
            state.progress = progress
            if !refused.isEmpty { try bad(refused) }
            report(state)
            if progress.counts.bad >= Self.maxBadStart, progress.counts.bad == progress.lines {
                throw FileError(
                    .malformed, path: path,
                    "None of the first \(progress.lines) lines is a registration. Is this the file of an export job?")
            }
        }
        return state
    }

    private func store(
        _ batch: ExportBatch, after progress: HubImportProgress, _ target: Target?, _ fingerprint: String
    ) async throws -> (HubImportProgress, refused: [BadLine]) {
        let stored = batch.stored(after: progress)
        guard let target else {
            var progress = progress
            (progress.bytes, progress.lines) = (batch.bytes, batch.lines)
            var counts = stored.counts
            counts.imported = stored.registrations.count + stored.installations.reduce(0) { $0 + $1.lines }
            progress.counts = progress.counts + counts
            return (progress, [])
        }
        let result = try await target.tables.importBatch(stored, of: fingerprint, hub: hub)
        let refused = Set(result.refused)
        return (
            result.progress,
            batch.parts.filter { refused.contains($0.part.installationID) }.map { line, _ in
                BadLine(line: line, reason: "The lines of this installation contradict each other.")
            }
        )
    }
}

extension HubTools {
    /// The connectors of a hub, for checks of addresses only.
    fileprivate static func connectors(
        ofCredentialsFile path: String, hub: String, outgoing: OutgoingConfiguration
    ) throws(FileError) -> [NotificationFormat: any PushConnector] {
        var connectors: [NotificationFormat: any PushConnector] = [:]
        for platform in try platforms(ofCredentialsFile: path, outgoing: outgoing)
        where platform.hub.lowercased() == hub.lowercased() {
            guard let connector = platform.connector(LocalPushTokens()),
                let kind = PushPlatform(rawValue: platform.name)
            else { continue }
            for format in kind.formats { connectors[format] = connector }
        }
        return connectors
    }
}
