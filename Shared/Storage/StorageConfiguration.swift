package import Domain
import Foundations
import Postgres
package import ServiceConfiguration

/// Which store to open (`DATABASE_URL`), and how to treat its schema.
package struct StorageConfiguration: Sendable {
    enum Location: Sendable, Hashable {
        case memory
        case sqlite(path: String)
        /// A libpq URI, unchanged; it may hold a password.
        case postgres(uri: String)
    }

    let location: Location
    /// How to treat a database without a schema.
    package let migrations: MigrationPolicy
    /// When a dispatcher withdraws notifications that were revoked or read before it recorded their push
    /// (`DISPATCH_WITHDRAW`). Other services leave it as it is.
    package var withdrawals = WithdrawalMode.revoked

    /// Reads `sqlite:PATH` (or `sqlite:///PATH`), `postgres://…` or `postgresql://…` (a libpq URI: PostgreSQL's manual,
    /// 34.1.1.2), or `memory:`, which stores nothing on disk and is meant for tests.
    ///
    /// - Throws: ``StorageError`` with code `invalid`; its message never shows the URL.
    package init(url: String, migrations: MigrationPolicy = .automatic) throws(StorageError) {
        if url == "memory:" {
            location = .memory
        } else if url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") {
            location = .postgres(uri: url)
        } else if url.hasPrefix("sqlite:") {
            location = .sqlite(path: try StorageConfiguration.path(url.dropFirst("sqlite:".count)))
        } else {
            throw StorageError(
                .invalid, "A database URL must be sqlite:PATH, or begin with postgres:// or postgresql://.")
        }
        self.migrations = migrations
    }

    private static func path(_ text: Substring) throws(StorageError) -> String {
        if text.hasPrefix("///") { return String(text.dropFirst(2)) }
        guard !text.isEmpty, !text.hasPrefix("//"), !text.hasPrefix(":"), !text.utf8.contains(0) else {
            throw StorageError(
                .invalid, "After sqlite: there must be the path of a file, such as sqlite:/var/lib/x.sqlite.")
        }
        return String(text)
    }

    package var kind: StoreKind {
        switch location {
        case .memory: .memory
        case .sqlite: .sqlite
        case .postgres: .postgres
        }
    }
}

extension StorageConfiguration {
    /// The PostgreSQL hosts that are reached by TCP without certificate verification.
    ///
    /// - Throws: ``StorageError`` with code `invalid` for a URI that libpq does not accept.
    var unverifiedHosts: [String] {
        get throws(StorageError) {
            guard case .postgres(let uri) = location else { return [] }
            do throws(PostgresError) {
                return try PostgresConfiguration(uri: uri).unverifiedHosts
            } catch {
                throw StorageError(error)
            }
        }
    }
}

extension StorageConfiguration: CustomStringConvertible {
    /// The URL without secrets: of a libpq URI scheme, hosts and ports.
    package var description: String {
        switch location {
        case .memory: "memory:"
        case .sqlite(let path): "sqlite:\(path)"
        case .postgres(let uri): PublicURL.describe(uri)
        }
    }
}

extension StorageConfiguration {
    /// Reads `DATABASE_URL` or the file that `DATABASE_URL_FILE` names, and `DATABASE_MIGRATE`. A server that is not on
    /// loopback needs verified TLS, unless `ALLOW_INSECURE` contains `postgres`.
    ///
    /// - Returns: `nil` if a value is invalid; the reader holds the issue.
    package static func read(_ reader: inout ConfigurationReader) -> StorageConfiguration? {
        let before = reader.issues.count
        let url = reader[\.databaseURL, orFile: \.databaseURLFile]
        let migrate = reader[\.databaseMigrate]
        guard reader.issues.count == before else { return nil }
        do {
            let configuration = try StorageConfiguration(
                url: url, migrations: migrate == .auto ? .automatic : .check)
            let hosts = try configuration.unverifiedHosts.filter { !InsecureLink.isLoopback($0) }
            reader.refuse(
                hosts.map { "names \($0)" }, of: \.databaseURL, as: .postgres,
                remedy: "use sslmode=verify-full (or verify-ca)")
            return configuration
        } catch {
            reader.note(\.databaseURL, error.message)
            return nil
        }
    }
}
