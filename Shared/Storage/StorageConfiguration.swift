import Postgres
public import SecurePushCore
public import ServiceConfiguration

/// Which store to open (`DATABASE_URL`), and what to do about its schema.
public struct StorageConfiguration: Sendable {
    enum Location: Sendable, Hashable {
        case memory
        case sqlite(path: String)
        /// A libpq URI, as it came; it may hold a password.
        case postgres(uri: String)
    }

    let location: Location
    public let migrations: MigrationPolicy

    /// Reads `sqlite:PATH` (`sqlite:///PATH` too), `postgres://…` or `postgresql://…` (a libpq URI, see libpq's
    /// documentation, "Connection URIs"), or `memory:`, which keeps nothing and is meant for tests.
    ///
    /// - Throws: ``StorageError`` with code `invalid`; its message never shows the URL.
    public init(url: String, migrations: MigrationPolicy = .automatic) throws(StorageError) {
        if url == "memory:" {
            location = .memory
        } else if url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") {
            location = .postgres(uri: url)
        } else if url.hasPrefix("sqlite:") {
            location = .sqlite(path: try StorageConfiguration.path(url.dropFirst("sqlite:".count)))
        } else {
            throw StorageError(.invalid, "A database URL is sqlite:PATH, or begins with postgres:// or postgresql://.")
        }
        self.migrations = migrations
    }

    private static func path(_ text: Substring) throws(StorageError) -> String {
        if text.hasPrefix("///") { return String(text.dropFirst(2)) }
        guard !text.isEmpty, !text.hasPrefix("//"), !text.hasPrefix(":"), !text.utf8.contains(0) else {
            throw StorageError(.invalid, "sqlite: is followed by the path of a file, as in sqlite:/var/lib/x.sqlite.")
        }
        return String(text)
    }

    /// The kind of store that this opens.
    public var kind: StoreKind {
        switch location {
        case .memory: .memory
        case .sqlite: .sqlite
        case .postgres: .postgres
        }
    }
}

extension StorageConfiguration {
    /// The hosts of a PostgreSQL server that is not on this machine's Unix sockets and whose certificate is not
    /// verified.
    ///
    /// - Throws: ``StorageError`` with code `invalid` for a URI that libpq does not take.
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
    /// The URL without what may be secret: of a libpq URI only hosts and database, and only where it is certain which
    /// part they are (a password that was not percent-encoded may hold anything).
    public var description: String {
        switch location {
        case .memory: "memory:"
        case .sqlite(let path): "sqlite:\(path)"
        case .postgres(let uri): "postgres://\(StorageConfiguration.publicPart(of: uri) ?? "…")"
        }
    }

    private static func publicPart(of uri: String) -> String? {
        let afterScheme = uri.drop { $0 != "/" }.dropFirst(2)
        let parts = afterScheme.split(separator: "@", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count <= 2 else { return nil }
        if parts.count == 2, parts[0].contains(where: { $0 == "/" || $0 == "?" || $0 == "#" }) { return nil }
        let place = last.prefix { $0 != "?" }
        let hosts = place.prefix { $0 != "/" }.split(separator: ",")
        let arePlain = hosts.allSatisfy { host in
            let port = host.split(separator: ":").dropFirst().last
            return host.hasPrefix("[") || port.map { $0.allSatisfy(\.isNumber) } ?? true
        }
        return arePlain ? String(place) : nil
    }
}

extension StorageConfiguration {
    /// The keys that ``read(_:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.databaseURL, ConfigurationKeys.databaseURLFile, ConfigurationKeys.databaseMigrate,
            ConfigurationKeys.allowInsecure,
        ]
    }

    /// Reads `DATABASE_URL`, or the file that `DATABASE_URL_FILE` names, and `DATABASE_MIGRATE`. A server beyond
    /// loopback needs verified TLS, unless `ALLOW_INSECURE` names `postgres`.
    ///
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(_ reader: inout ConfigurationReader) -> StorageConfiguration? {
        let url = reader.read(ConfigurationKeys.databaseURL, orFile: ConfigurationKeys.databaseURLFile)
        let migrate = reader.read(ConfigurationKeys.databaseMigrate)
        guard let url, let migrate else { return nil }
        do {
            let configuration = try StorageConfiguration(
                url: url, migrations: migrate == .auto ? .automatic : .check)
            let hosts = try configuration.unverifiedHosts.filter { !InsecureLink.isLoopback($0) }
            reader.refuse(
                hosts.map { "names \($0)" }, of: ConfigurationKeys.databaseURL.name, as: .postgres,
                remedy: "use sslmode=verify-full (or verify-ca)")
            return configuration
        } catch {
            reader.note(ConfigurationKeys.databaseURL.name, error.message)
            return nil
        }
    }
}
