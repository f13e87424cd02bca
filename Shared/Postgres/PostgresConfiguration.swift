#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How to reach a PostgreSQL server, and how long to wait for it.
public struct PostgresConfiguration: Sendable {
    /// The connection URI or keyword string as libpq takes it (PostgreSQL's manual, 34.1.1), with `sslmode`,
    /// `sslrootcert`, `target_session_attrs` and the rest. It may hold a password.
    let uri: String
    private let shown: String
    /// Options of the URI's own `options` keyword; ours are added to them.
    private let givenOptions: String
    /// The hosts that are reached by TCP without a verified certificate: `sslmode` is below `verify-ca`.
    public let unverifiedHosts: [String]

    /// How long connecting may take, the name's look-up included; the URI's `connect_timeout`, or 5 s. One limit for
    /// all hosts of the URI together.
    public var connectTimeout: Duration
    /// How long a query may wait for its answer before the connection is given up; 10 s.
    public var queryTimeout: Duration = .seconds(10)
    /// When the server itself cancels a statement (`statement_timeout`); 10 s, `nil` for the server's own setting.
    public var statementTimeout: Duration? = .seconds(10)
    /// What `pg_stat_activity` shows, unless the URI names one.
    public var applicationName = "securepush"
    /// Server settings of each session, such as `jit`; names and values must be plain words.
    public var runtimeParameters: [String: String] = [:]

    /// Checks the URI; connects to nothing.
    ///
    /// - Throws: ``PostgresError`` with code `invalid`; its message does not repeat the URI.
    public init(uri: String) throws(PostgresError) {
        let options = try ConnectionString.parse(uri)
        self.uri = uri
        givenOptions = options["options"] ?? ""
        unverifiedHosts = Self.unverifiedHosts(options)
        let seconds = options["connect_timeout"].flatMap { Int($0) } ?? 0
        connectTimeout = seconds > 0 ? .seconds(min(seconds, 3600)) : .seconds(5)
        let host = options["host"] ?? options["hostaddr"] ?? "localhost"
        let database = options["dbname"] ?? options["user"] ?? ""
        shown = "postgres://\(host):\(options["port"] ?? "5432")/\(database)"
    }

    /// libpq takes what the URI leaves out from the environment (PostgreSQL's manual, 34.15).
    private static func unverifiedHosts(_ options: [String: String]) -> [String] {
        func option(_ keyword: String, _ variable: String) -> String? {
            options[keyword] ?? getenv(variable).map { String(cString: $0) }
        }
        if ["verify-ca", "verify-full"].contains(option("sslmode", "PGSSLMODE") ?? "") { return [] }
        let hosts = option("hostaddr", "PGHOSTADDR") ?? option("host", "PGHOST") ?? ""
        // A path is a Unix socket, as is none at all.
        return hosts.split(separator: ",").map(String.init).filter { !$0.hasPrefix("/") && !$0.hasPrefix("@") }
    }

    /// What libpq is given, in order: what the URI may override, the URI, what it may not.
    var keywords: [(keyword: String, value: String)] {
        [
            ("fallback_application_name", applicationName), ("gssencmode", "disable"), ("dbname", uri),
            ("client_encoding", "UTF8"), ("options", sessionOptions),
        ]
    }

    private var sessionOptions: String {
        var options = givenOptions
        if let statementTimeout {
            let (seconds, attoseconds) = statementTimeout.components
            options += " -c statement_timeout=\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)"
        }
        for (name, value) in runtimeParameters.sorted(by: { $0.key < $1.key }) { options += " -c \(name)=\(value)" }
        return options
    }
}

extension PostgresConfiguration: CustomStringConvertible {
    /// Host, port and database; never the user's password.
    public var description: String { shown }
}

extension PostgresConfiguration: CustomDebugStringConvertible, CustomReflectable {
    public var debugDescription: String { shown }
    // Without this, `dump` and a test's message would show the URI.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
