/// Why PostgreSQL did not do what it was asked.
public struct PostgresError: Error, Sendable, Hashable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case invalid, unavailable, connectionLost, timeout, server, decoding }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// A configuration or a call that cannot work; nothing was sent.
        public static let invalid = Code(.invalid)
        /// No connection, or none could be made. Nothing was sent.
        public static let unavailable = Code(.unavailable)
        /// The connection broke after the query was sent: it may have been done.
        public static let connectionLost = Code(.connectionLost)
        /// No answer in time: it may have been done, unless ``PostgresError/sqlState`` says that the server
        /// cancelled it.
        public static let timeout = Code(.timeout)
        /// The server refused the query, see ``PostgresError/sqlState``. Its transaction was rolled back.
        public static let server = Code(.server)
        /// A value in the answer is not what the program takes it for.
        public static let decoding = Code(.decoding)

        public var description: String { value.rawValue }
    }

    public var code: Code
    /// The five characters of the server's SQLSTATE (PostgreSQL's manual, appendix A), where the server answered.
    public var sqlState: String?
    /// What happened, for an operator; never a parameter's value, never a password.
    public var message: String

    public init(_ code: Code, sqlState: String? = nil, _ message: String) {
        self.code = code
        self.sqlState = sqlState
        self.message = message
    }
}

extension PostgresError: CustomStringConvertible {
    public var description: String {
        guard let sqlState else { return "postgres \(code): \(message)" }
        return "postgres \(code) \(sqlState): \(message)"
    }
}

extension PostgresError {
    /// The error of a server's answer, told apart by its SQLSTATE.
    init(sqlState: String, primaryMessage: String) {
        switch sqlState {
        case "57014": self.init(.timeout, sqlState: sqlState, primaryMessage)
        case "57P01", "57P02": self.init(.connectionLost, sqlState: sqlState, primaryMessage)
        case "57P03": self.init(.unavailable, sqlState: sqlState, primaryMessage)
        // The messages of class 22 quote the value that they complain of.
        case _ where sqlState.hasPrefix("22"): self.init(.server, sqlState: sqlState, "A value was refused.")
        default: self.init(.server, sqlState: sqlState, primaryMessage)
        }
    }
}
