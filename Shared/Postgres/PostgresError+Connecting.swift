extension PostgresError {
    /// Why there is no connection, in words of our own: a sentence for the usual causes, otherwise `nil`.
    ///
    /// The words of the server and of libpq name hosts, roles and databases. They are for the log, this is for anybody.
    package var connectionReason: String? {
        // Only this program itself finds a configuration invalid.
        if code == .invalid { return message }
        switch sqlState {
        case "3D000": return "The server has no database of this name."
        case "28P01": return "The server refuses the password, or has no such role."
        case "28000": return "The server refuses the role, or does not let it in from here (pg_hba.conf)."
        case "42501": return "The role may not connect to the database."
        case "42704", "22023", "55P02":
            return "The server refuses a setting in the options of DATABASE_URL."
        case "53300": return "The server has no free connection (max_connections, or the role's limit)."
        case "53100": return PostgresError.diskIsFull
        // PgBouncer before 1.21 has this one for every refusal.
        case "08P01":
            return "A connection pooler refuses the database, the role, the password, or options (PGOPTIONS)."
        case "55000": return "The database accepts no connections."
        case "57P03": return "The server is starting, stopping or recovering."
        case .some: return nil
        case nil: return Self.localReasons.first { $0.texts.contains(where: message.contains) }?.reason
        }
    }

    /// What libpq says where the server has said nothing.
    private static let localReasons: [(texts: [String], reason: String)] = [
        (["no password supplied"], "The server asks for a password, and DATABASE_URL has none."),
        (["could not translate host name"], "The name of the server's host is not known."),
        (["does not support SSL"], "The server does not offer TLS."),
        (["certificate", "SSL"], "TLS with the server fails: its certificate, its name, or sslrootcert is wrong."),
        (["Connection refused", "No such file or directory"], "Nothing listens at the server's address."),
        (
            ["No connection within", "timed out", "timeout expired", "No route to host", "is unreachable"],
            "The server does not answer."
        ),
        (["server closed the connection"], "The server closes the connection."),
    ]

    /// For SQLSTATE 53100, of any file that could not grow.
    package static let diskIsFull = "The disk of the database is full. Free some space."

    /// The error of a connection that libpq could not open, or that has broken: its text in verbose form, which is the
    /// only one that has the SQLSTATE.
    init(_ code: Code, libpq text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == "\t" || $0 == " " } }
            .filter { !$0.hasPrefix("LOCATION:") }
        var sqlState: String?
        // `FATAL:  3D000: database "x" does not exist`; of several hosts the last one counts.
        let parts = lines.joined(separator: " ").split(separator: "FATAL:  ", omittingEmptySubsequences: false)
        let texts = parts.enumerated().map { index, part in
            let state = part.prefix(5)
            guard index > 0, state.utf8.allSatisfy(Self.isOfSQLState), part.dropFirst(5).hasPrefix(": ") else {
                return part
            }
            sqlState = String(state)
            return part.dropFirst(7)
        }
        let message = texts.joined(separator: "FATAL:  ")
        self.init(code, sqlState: sqlState, message.isEmpty ? "The connection failed." : message)
    }

    private static func isOfSQLState(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
