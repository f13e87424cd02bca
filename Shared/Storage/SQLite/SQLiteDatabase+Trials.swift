import Domain
import GRDB

/// An error of SQLite, and whether it lies with the database or with a value.
struct SQLiteFailure: Error {
    let error: StorageError
    /// Whether other values would not help: the disk is full, the file is damaged, a table is missing.
    let isOfTheDatabase: Bool

    init(_ error: any Error) {
        self.error = StorageError(error)
        let ofValues: [ResultCode] = [
            .SQLITE_CONSTRAINT, .SQLITE_TOOBIG, .SQLITE_MISMATCH, .SQLITE_RANGE, .SQLITE_ABORT, .SQLITE_INTERRUPT,
            .SQLITE_MISUSE,
        ]
        isOfTheDatabase = (error as? DatabaseError).map { !ofValues.contains($0.resultCode) } ?? false
    }
}

extension SQLiteDatabase {
    /// Notes how some work ended, for readiness.
    ///
    /// - Parameters:
    ///   - kind: the kind of a part of the work.
    ///   - trial: tries a part out, if it failed.
    func note<Value, Parts: Collection>(
        _ result: Result<Value, SQLiteFailure>, of parts: Parts, kind: (Parts.Element) -> String,
        trial: (Parts.Element) -> FailedWork.Trial
    ) {
        switch result {
        case .success where failedWork.hasFailures:
            for part in parts { failedWork.succeeded(kind(part)) }
        case .success: break
        case .failure(let failure):
            // The parts of a group that was refused are tried again. What succeeds then counts.
            guard failure.isOfTheDatabase else { return }
            var noted: Set<String> = []
            for part in parts where noted.insert(kind(part)).inserted {
                failedWork.failed(kind(part), failure.error, trial: trial(part))
            }
        }
    }

    /// A trial that does some work and rolls it back, and then commits a change that changes nothing: only a commit
    /// writes to the disk.
    func tryOutWrite(_ work: @escaping @Sendable (Database) throws -> Void) -> FailedWork.Trial {
        {
            await withCheckedContinuation { caller in
                write { db in
                    try db.inSavepoint {
                        try work(db)
                        return .rollback
                    }
                    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                    try db.execute(sql: "PRAGMA user_version = \(version)")
                } completion: {
                    caller.resume(returning: $0.remainingError)
                }
            }
        }
    }

    func tryOutRead(_ work: @escaping @Sendable (Database) throws -> Void) -> FailedWork.Trial {
        {
            await withCheckedContinuation { caller in
                read(work) { caller.resume(returning: $0.remainingError) }
            }
        }
    }
}

extension Database {
    /// Does some work. If it meets a damaged page, the connection forgets the pages that it keeps in memory: otherwise
    /// it would go on reading the damaged one after the file was repaired.
    func forgettingDamage<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            releaseMemory()
            throw error
        }
    }
}

extension Result where Failure == SQLiteFailure {
    /// An error about a value shows that the database works.
    fileprivate var remainingError: StorageError? {
        guard case .failure(let failure) = self else { return nil }
        return failure.isOfTheDatabase || failure.error.isRetriable ? failure.error : nil
    }
}
