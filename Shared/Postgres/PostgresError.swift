/// A failure of a query or of a connection to PostgreSQL.
@usableFromInline
package struct PostgresError: Error, Sendable, Hashable {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case invalid, unavailable, connectionLost, timeout, server, decoding }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// An invalid configuration or call; nothing was sent.
        package static let invalid = Code(.invalid)
        /// There is no connection, or it could not be opened. Nothing was sent.
        package static let unavailable = Code(.unavailable)
        /// The connection broke after the query was sent: it may have been executed.
        package static let connectionLost = Code(.connectionLost)
        /// No result in time: the query may have been executed, unless ``PostgresError/sqlState`` says that the server
        /// cancelled it.
        package static let timeout = Code(.timeout)
        /// The server rejected the query, see ``PostgresError/sqlState``. Its transaction was rolled back.
        package static let server = Code(.server)
        /// A value in the result has another type than the program expects.
        package static let decoding = Code(.decoding)

        @usableFromInline package var description: String { value.rawValue }
    }

    package var code: Code
    /// The server's SQLSTATE (PostgreSQL's manual, appendix A), if the server answered.
    package var sqlState: String?
    /// A description of the error for an operator. It never contains a parameter's value or a password.
    package var message: String

    package init(_ code: Code, sqlState: String? = nil, _ message: String) {
        self.code = code
        self.sqlState = sqlState
        self.message = message
    }
}

extension PostgresError: CustomStringConvertible {
    @usableFromInline package var description: String {
        guard let sqlState else { return "postgres \(code): \(message)" }
        return "postgres \(code) \(sqlState): \(message)"
    }
}

extension PostgresError {
    /// There is no connection, so nothing was sent.
    static let notConnected = PostgresError(.unavailable, "There is no connection to the database.")

    /// The error that the server reported, classified by its SQLSTATE.
    init(sqlState: String, primaryMessage: String) {
        switch sqlState {
        case "57014": self.init(.timeout, sqlState: sqlState, primaryMessage)
        case "57P01", "57P02": self.init(.connectionLost, sqlState: sqlState, primaryMessage)
        case "57P03": self.init(.unavailable, sqlState: sqlState, primaryMessage)
        // Messages of class 22 quote the invalid value.
        case _ where sqlState.hasPrefix("22"): self.init(.server, sqlState: sqlState, "The server rejected a value.")
        default: self.init(.server, sqlState: sqlState, primaryMessage)
        }
    }
}
