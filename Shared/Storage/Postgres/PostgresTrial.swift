import Domain
import Postgres

extension FailedWork {
    /// Notes how a statement ended.
    func note(
        _ error: PostgresError?, _ statement: PostgresStatement, _ parameters: PostgresParameters,
        at configuration: PostgresConfiguration
    ) {
        guard let error else { return succeeded(statement.sql) }
        guard error.isOfTheDatabase else { return }
        failed(statement.sql, StorageError(error)) {
            await PostgresTrial(statement: statement, parameters: parameters, configuration: configuration).run()
        }
    }
}

/// Runs a statement again that the database could not execute, and rolls it back.
///
/// It has a connection of its own: a transaction on a shared one would contain the statements of others.
struct PostgresTrial {
    let statement: PostgresStatement
    let parameters: PostgresParameters
    let configuration: PostgresConfiguration

    private struct Undone: Error {}
    private struct NotConnected: Error {}

    /// Why the database still cannot execute it.
    func run() async -> StorageError? {
        do {
            let connection = try PostgresConnection(configuration: configuration)
            let result = await attempt(connection)
            await connection.close()
            try result.get()
        } catch let error as PostgresError {
            // Another error, such as one about a value, shows that the database works.
            let remains = error.isOfTheDatabase || error.code == .unavailable || error.code == .connectionLost
            return remains ? StorageError(error) : nil
        } catch {}
        // Also without a connection: the server may have no room for one more while those of the pool work, which is
        // pinged before readiness asks for a trial.
        return nil
    }

    private func attempt(_ connection: PostgresConnection) async -> Result<Void, any Error> {
        do {
            do { try await connection.connect() } catch { throw NotConnected() }
            try await connection.withTransaction {
                _ = try await connection.query(statement, parameters)
                throw Undone()
            }
        } catch is Undone {
            return .success(())
        } catch {
            return .failure(error)
        }
        return .success(())
    }
}

extension PostgresError {
    /// Whether the cause lies with the database and not with a value or a connection: a table or a right is missing
    /// (class 42), the disk is full (53), a lock cannot be had (55), no answer in time (57014), failures of the system
    /// or of a file (58, F0, XX).
    var isOfTheDatabase: Bool {
        switch code {
        case .timeout: return true
        case .server: return ["3F", "42", "53", "55", "58", "F0", "XX"].contains(sqlState?.prefix(2) ?? "")
        default: return false
        }
    }
}
