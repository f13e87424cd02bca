import Domain
package import Foundations

extension HubTables {
    /// How long the progress of an import is kept.
    private static let memory = Duration.seconds(365 * 86_400)

    /// The progress of a file's import into a hub; the start of the file if there is none.
    ///
    /// - Parameters:
    ///   - file: a hash of the file.
    ///   - exportedAt: when the file was written; if it is another time than before, the import starts again.
    ///   - assumed: used in place of `exportedAt` if that is unknown, and no import of the file has begun.
    ///   - restarts: whether to start again in any case.
    package func beginImport(
        of file: String, hub: String, exportedAt: Timestamp?, assumed: Timestamp, restarts: Bool, now: Timestamp = .now
    ) async throws -> HubImportProgress {
        try await store.write { db in
            try db.lock([.hubImport(hub)])
            try db.run("DELETE FROM hub_imports WHERE hub = \(hub) AND updated_at < \(now - Self.memory)")
            if !restarts, let known = try db.importProgress(of: file, hub: hub),
                exportedAt == nil || exportedAt == known.exportedAt
            {
                return known
            }
            let new = HubImportProgress(exportedAt: exportedAt ?? assumed)
            try db.run(
                """
                INSERT INTO hub_imports (hub, file, exported_at, done_bytes, done_lines, counts, updated_at)
                VALUES (\(hub), \(file), \(new.exportedAt), 0, 0, '', \(now))
                ON CONFLICT (hub, file) DO UPDATE SET exported_at = excluded.exported_at, done_bytes = 0,
                    done_lines = 0, counts = '', updated_at = excluded.updated_at
                """)
            return new
        }
    }

    /// Stores the next lines of a file, and the progress, in one transaction.
    ///
    /// Entries of the hub that are newer than the file do not change: a registration or installation of the same ID,
    /// and each registration of the same device, which would get outdated tags.
    package func importBatch(
        _ batch: HubImportBatch, of file: String, hub: String, now: Timestamp = .now
    ) async throws -> HubImportResult {
        try await store.write(weight: batch.weight, bytes: batch.heldBytes) { db in
            // In one order, so that two processes do not deadlock.
            try db.lock([.hubImport(hub)] + batch.installations.map { .hubInstallation($0.id, hub: hub) }.sorted())
            guard let known = try db.importProgress(of: file, hub: hub), known == batch.start else {
                throw StorageError(.failed, "Another process imports this file.")
            }
            var step = try HubImportStep(batch, hub: hub, db)
            for registration in batch.registrations { try step.add(registration) }
            for installation in batch.installations { try step.add(installation) }
            try step.write()
            var progress = known
            (progress.bytes, progress.lines) = (batch.endBytes, batch.endLines)
            progress.counts = known.counts + batch.counts + step.counts
            try db.run(
                """
                UPDATE hub_imports SET done_bytes = \(progress.bytes), done_lines = \(progress.lines),
                    counts = \(progress.counts.text), updated_at = \(now)
                WHERE hub = \(hub) AND file = \(file)
                """)
            return HubImportResult(progress: progress, refused: step.refused)
        }
    }
}

extension SQLTransaction {
    fileprivate func importProgress(of file: String, hub: String) throws -> HubImportProgress? {
        try first(
            """
            SELECT exported_at, done_bytes, done_lines, counts FROM hub_imports
            WHERE hub = \(hub) AND file = \(file) \(.forUpdate)
            """
        ) { row in
            var progress = HubImportProgress(exportedAt: try row())
            (progress.bytes, progress.lines) = (try row(), try row())
            progress.counts = HubImportCounts(text: try row())
            return progress
        }
    }
}

extension String {
    fileprivate static func hubImport(_ hub: String) -> String { "hub import \(hub)" }
}
