import CLibPQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The owner of a `PGconn`. It is not thread-safe, so it stays with one actor. Only ``start(_:)`` may block.
final class ConnectionHandle {
    /// The next step of connecting.
    enum Progress { case readable, writable, done, failed }

    enum Flush { case done, more, failed }

    let connection: OpaquePointer

    private init(_ connection: OpaquePointer) { self.connection = connection }

    /// Sends Terminate without waiting for a reply, and frees the connection.
    deinit { PQfinish(connection) }

    /// Starts to connect. Resolves the host's name, which may block.
    static func start(_ configuration: PostgresConfiguration) throws(PostgresError) -> ConnectionHandle {
        let keywords = configuration.keywords.merging(["fallback_application_name": configuration.applicationName]) {
            $1
        }
        let connection = withCStrings(keywords.map(\.key)) { names in
            withCStrings(keywords.map(\.value)) { values in PQconnectStartParams(names, values, 0) }
        }
        guard let connection else { throw PostgresError(.unavailable, "Out of memory.") }
        let handle = ConnectionHandle(connection)
        // Only this form tells the SQLSTATE with which a server refuses a connection.
        PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        guard PQstatus(connection) != CONNECTION_BAD else { throw handle.error(.unavailable) }
        // Otherwise libpq prints notices to stderr.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        return handle
    }

    /// Takes the next step of connecting once the socket is ready as the last step required.
    func proceed() -> Progress {
        switch PQconnectPoll(connection) {
        case PGRES_POLLING_READING: .readable
        case PGRES_POLLING_WRITING: .writable
        case PGRES_POLLING_OK: .done
        default: .failed
        }
    }

    /// Enters non-blocking pipeline mode, once connected.
    func enterPipeline() -> Bool {
        PQsetnonblocking(connection, 1) == 0 && PQenterPipelineMode(connection) == 1
    }

    /// The socket, which changes while connecting.
    var descriptor: Int32 { PQsocket(connection) }

    /// The ID of the server's process for this session.
    var serverProcess: Int32 { PQbackendPID(connection) }

    /// The encoding of the database; `nil` if the server did not say.
    var serverEncoding: String? { PQparameterStatus(connection, "server_encoding").map { String(cString: $0) } }

    func flush() -> Flush {
        switch PQflush(connection) {
        case 0: .done
        case 1: .more
        default: .failed
        }
    }

    /// The connection's last error on one line. libpq puts hosts and users into it, but no passwords.
    func error(_ code: PostgresError.Code) -> PostgresError {
        let text = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        // libpq's own words for a session that `target_session_attrs` does not accept; no SQLSTATE tells them.
        if ["session is read-only", "server is in hot standby mode"].contains(where: text.contains) {
            return .readOnly
        }
        return PostgresError(code, libpq: text)
    }
}

/// Calls `body` with a NULL-terminated array of C strings, which is valid during the call.
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

extension ConnectionHandle {
    /// Queues a Parse.
    func sendPrepare(_ name: String, _ sql: String, types: [PostgresType]) -> Bool {
        PQsendPrepare(connection, name, sql, Int32(types.count), types.map(\.rawValue)) == 1
    }

    /// Queues Bind and Execute of a prepared statement; libpq copies the parameters.
    func sendQuery(_ name: String, _ parameters: PostgresParameters) -> Bool {
        let fields = parameters.fields
        return parameters.bytes.withUnsafeBytes { buffer in
            // A pointer that is not NULL even if all values are empty.
            let empty = UnsafeRawPointer(bitPattern: 1)
            let values = fields.map { field -> UnsafePointer<CChar>? in
                let start = (buffer.baseAddress ?? empty)?.advanced(by: field.offset)
                return field.length < 0 ? nil : start?.assumingMemoryBound(to: CChar.self)
            }
            let lengths = fields.map { max(0, $0.length) }
            let formats = [Int32](repeating: 1, count: fields.count)
            return PQsendQueryPrepared(connection, name, Int32(fields.count), values, lengths, formats, 1) == 1
        }
    }

    /// Queues a Sync, which ends the transaction, and writes as much as the socket accepts.
    func sendSync() -> Bool { PQpipelineSync(connection) == 1 }

    /// Reads from the socket; `false` if the connection has broken.
    func consumeInput() -> Bool { PQconsumeInput(connection) == 1 }

    /// Whether the TLS library holds decrypted bytes that libpq has not read yet; the socket does not become readable
    /// for these. libpq reads as much at a time as fits its buffer, at least 8 KiB; a TLS record holds up to 16 KiB.
    var hasDecryptedBytes: Bool {
        // NULL without TLS, or with a TLS library other than OpenSSL.
        guard let ssl = PQsslStruct(connection, "OpenSSL"), let pending = OpenSSL.pending else { return false }
        return pending(ssl) > 0
    }

    /// The next item that has fully arrived; `nil` if more must be read first.
    func nextEvent() -> PostgresPipeline<PostgresConnection.Completion, PostgresResult>.Event? {
        guard PQisBusy(connection) == 0 else { return nil }
        guard let result = PQgetResult(connection) else { return .end }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            return .reply(PostgresResult(ResultHandle(result)))
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            return .synced
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            return .aborted
        default:
            defer { PQclear(result) }
            return .failure(failure(of: result))
        }
    }

    /// The error without its detail and context, because these quote values.
    private func failure(of result: OpaquePointer) -> PostgresError {
        let field = { (code: Int) in PQresultErrorField(result, Int32(code)).map { String(cString: $0) } }
        guard let sqlState = field(DiagnosticField.sqlState) else {
            // libpq itself created this result; the server sent no error.
            return PQstatus(connection) == CONNECTION_BAD
                ? error(.connectionLost) : PostgresError(.server, "The server sent an unsupported kind of result.")
        }
        return PostgresError(sqlState: sqlState, primaryMessage: field(DiagnosticField.primaryMessage) ?? "")
    }
}

/// The only function of OpenSSL that libpq does not wrap.
private enum OpenSSL {
    /// `int SSL_pending(const SSL *ssl)` from the library that libpq has loaded, so that nothing more is linked.
    static let pending: (@convention(c) (UnsafeRawPointer) -> Int32)? = {
        #if canImport(Glibc)
        let everyLibrary: UnsafeMutableRawPointer? = nil
        #else
        let everyLibrary = UnsafeMutableRawPointer(bitPattern: -2)
        #endif
        return dlsym(everyLibrary, "SSL_pending")
            .map { unsafeBitCast($0, to: (@convention(c) (UnsafeRawPointer) -> Int32).self) }
    }()
}

/// Codes of an error's fields (`postgres_ext.h`). They are character macros, which Swift does not import.
private enum DiagnosticField {
    static let sqlState = Int(UInt8(ascii: "C"))
    static let primaryMessage = Int(UInt8(ascii: "M"))
}

/// libpq's parser of connection URIs and keyword strings.
enum ConnectionString {
    /// The keywords that the text sets.
    ///
    /// - Throws: ``PostgresError`` with code `invalid`, without libpq's message: that may quote the text with its
    ///   password.
    static func parse(_ text: String) throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        defer { PQfreemem(message) }
        guard let options = PQconninfoParse(text, &message) else {
            throw PostgresError(.invalid, "Not a connection URI that libpq accepts.")
        }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }
}
