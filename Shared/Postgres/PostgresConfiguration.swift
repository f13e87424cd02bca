#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The address of a PostgreSQL server, and the time limits for it.
package struct PostgresConfiguration: Sendable {
    /// What libpq gets: the keywords of the URI, without `options` that the session sets itself. They may hold a
    /// password.
    let keywords: [String: String]
    private let sessionOptions: SessionOptions?
    private let shown: String
    /// Whether the URI names the schemas to use, in its `options`.
    package let namesSearchPath: Bool
    /// The hosts that are reached by TCP without certificate verification (`sslmode` below `verify-ca`).
    package let unverifiedHosts: [String]

    /// The time limit for connecting, including name resolution, for all hosts of the URI together: the URI's
    /// `connect_timeout`, or 5 s.
    package var connectTimeout: Duration
    /// How long a query may wait for its result before the connection is closed; 10 s.
    package var queryTimeout: Duration = .seconds(10)
    /// When the server cancels a statement (`statement_timeout`); 10 s, `nil` for never.
    package var statementTimeout: Duration? = .seconds(10)
    /// The `application_name` in `pg_stat_activity`, unless the URI names another.
    package var applicationName = "securepush"
    /// More server settings for each session, such as `jit`. They are set besides ``PostgresSession/settings``.
    package var runtimeParameters: [String: String] = [:]

    /// Checks a connection URI or keyword string for libpq (PostgreSQL's manual, 34.1.1), with `sslmode`,
    /// `sslrootcert`, `target_session_attrs` and other keywords, without connecting.
    ///
    /// - Throws: ``PostgresError`` with code `invalid`; its message does not repeat the URI.
    package init(uri: String) throws(PostgresError) {
        let options = try ConnectionString.parse(uri)
        // libpq ends a password at the first @, / or ?, and would take the rest for the host or the database.
        let isShifted = uri.contains("://") && Self.hasStrayAt(uri)
        guard !isShifted, options["host"]?.dropFirst().utf8.contains(UInt8(ascii: "@")) != true else {
            throw PostgresError(
                .invalid, "A password in a URI must be percent-encoded: write @ as %40, / as %2F and ? as %3F.")
        }
        sessionOptions = options["options"].flatMap { SessionOptions($0) }
        keywords = Self.keywords(options, isSessionSet: sessionOptions != nil)
        let given = options["options"] ?? getenv("PGOPTIONS").map { String(cString: $0) } ?? ""
        // The server takes `-c search_path=` and `--search-path=` alike.
        namesSearchPath = given.lowercased().replacing("-", with: "_").contains("search_path")
        unverifiedHosts = Self.unverifiedHosts(options)
        let seconds = options["connect_timeout"].flatMap { Int($0) } ?? 0
        connectTimeout = seconds > 0 ? .seconds(min(seconds, 3600)) : .seconds(5)
        let host = options["host"] ?? options["hostaddr"] ?? "localhost"
        let database = options["dbname"] ?? options["user"] ?? ""
        shown = "postgres://\(host):\(options["port"] ?? "5432")/\(database)"
    }

    /// Whether there is an `@` after the first slash behind the scheme, but before the parameters.
    private static func hasStrayAt(_ uri: String) -> Bool {
        let place = uri.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { $0 != UInt8(ascii: "?") }
        return place.drop { $0 != UInt8(ascii: "/") }.contains(UInt8(ascii: "@"))
    }

    /// libpq reads keywords that the URI does not set from the environment (PostgreSQL's manual, 34.15).
    private static func unverifiedHosts(_ options: [String: String]) -> [String] {
        func option(_ keyword: String, _ variable: String) -> String? {
            options[keyword] ?? getenv(variable).map { String(cString: $0) }
        }
        if ["verify-ca", "verify-full"].contains(option("sslmode", "PGSSLMODE") ?? "") { return [] }
        let hosts = option("hostaddr", "PGHOSTADDR") ?? option("host", "PGHOST") ?? ""
        // A path means a Unix socket; so does no host at all.
        return hosts.split(separator: ",").map(String.init).filter { !$0.hasPrefix("/") && !$0.hasPrefix("@") }
    }

    /// Defaults, then the URI, then the parameters that the URI must not override.
    ///
    /// Of several hosts, one that can be written to is used: after a fail-over this finds the new primary.
    private static func keywords(_ options: [String: String], isSessionSet: Bool) -> [String: String] {
        var keywords = ["gssencmode": "disable", "target_session_attrs": "read-write"]
        keywords.merge(options) { $1 }
        keywords["client_encoding"] = "UTF8"
        if isSessionSet { keywords["options"] = nil }
        return keywords
    }

    /// The settings of a new session.
    var session: PostgresSession {
        var settings = PostgresSession.settings
        if namesSearchPath { settings["search_path"] = nil }
        settings.merge(runtimeParameters) { $1 }
        return PostgresSession(statementTimeout: statementTimeout, settings: settings, options: sessionOptions)
    }
}

extension PostgresConfiguration: CustomStringConvertible {
    /// Host, port and database, without credentials.
    package var description: String { shown }
}

extension PostgresConfiguration: CustomDebugStringConvertible, CustomReflectable {
    package var debugDescription: String { shown }
    // Without this, `dump` and the messages of failed tests would show the URI.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
