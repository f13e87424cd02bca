import CLibPQ

/// The owner of a `PGconn`; not thread-safe, so it stays with one actor. None of its calls blocks, but for
/// ``start(_:)``.
final class ConnectionHandle {
    /// What establishing the connection needs next.
    enum Progress { case readable, writable, done, failed }

    /// What a flush left.
    enum Flush { case done, more, failed }

    let connection: OpaquePointer

    private init(_ connection: OpaquePointer) { self.connection = connection }

    /// Says good-bye without waiting for an answer, and frees all.
    deinit { PQfinish(connection) }

    /// Begins to connect. Looks up the host's name, which may block.
    static func start(_ configuration: PostgresConfiguration) throws(PostgresError) -> ConnectionHandle {
        let keywords = configuration.keywords
        let connection = withCStrings(keywords.map(\.keyword)) { names in
            withCStrings(keywords.map(\.value)) { values in PQconnectStartParams(names, values, 1) }
        }
        guard let connection else { throw PostgresError(.unavailable, "Out of memory.") }
        let handle = ConnectionHandle(connection)
        guard PQstatus(connection) != CONNECTION_BAD else { throw handle.error(.unavailable) }
        // Notices would go to stderr.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        return handle
    }

    /// Takes the next step of connecting, the socket being ready for what the last step asked for.
    func proceed() -> Progress {
        switch PQconnectPoll(connection) {
        case PGRES_POLLING_READING: .readable
        case PGRES_POLLING_WRITING: .writable
        case PGRES_POLLING_OK: .done
        default: .failed
        }
    }

    /// Enters pipeline mode without blocking, once connected.
    func enterPipeline() -> Bool {
        PQsetnonblocking(connection, 1) == 0 && PQenterPipelineMode(connection) == 1
    }

    /// The socket, which changes while connecting.
    var descriptor: Int32 { PQsocket(connection) }

    /// The server's process of this session.
    var serverProcess: Int32 { PQbackendPID(connection) }

    func flush() -> Flush {
        switch PQflush(connection) {
        case 0: .done
        case 1: .more
        default: .failed
        }
    }

    /// The connection's last error, on one line; libpq puts hosts and users into it, never passwords.
    func error(_ code: PostgresError.Code) -> PostgresError {
        let text = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == "\t" || $0 == " " } }
        return PostgresError(code, lines.isEmpty ? "The connection failed." : lines.joined(separator: " "))
    }
}

/// Calls with a NULL-terminated array of C strings, which lives as long as the call.
private func withCStrings<Value>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value?
) -> Value? {
    var bytes: [CChar] = []
    let offsets = strings.map { string in
        defer { bytes.append(contentsOf: string.utf8CString) }
        return bytes.count
    }
    return bytes.withUnsafeBufferPointer { buffer in
        let pointers = offsets.map { buffer.baseAddress?.advanced(by: $0) } + [nil]
        return pointers.withUnsafeBufferPointer { $0.baseAddress.flatMap(body) }
    }
}
