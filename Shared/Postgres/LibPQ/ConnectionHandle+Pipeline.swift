import CLibPQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension ConnectionHandle {
    /// Queues a Parse.
    func sendPrepare(_ name: String, _ sql: String, types: [PostgresType]) -> Bool {
        PQsendPrepare(connection, name, sql, Int32(types.count), types.map(\.rawValue)) == 1
    }

    /// Queues Bind and Execute of a prepared statement; libpq copies the parameters.
    func sendQuery(_ name: String, _ parameters: PostgresParameters) -> Bool {
        let fields = parameters.fields
        return parameters.bytes.withUnsafeBytes { buffer in
            // A pointer that is not NULL also where all values are empty.
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

    /// Queues a Sync, which ends the transaction, and writes what the socket takes.
    func sendSync() -> Bool { PQpipelineSync(connection) == 1 }

    /// Reads what the socket holds; `false` when the connection has broken.
    func consumeInput() -> Bool { PQconsumeInput(connection) == 1 }

    /// Whether the TLS library holds bytes that it has decrypted and libpq has not taken yet; the socket does not tell
    /// of these. libpq takes as much at a time as its buffer has room for, 8 KiB at least, and a TLS record holds up to
    /// 16 KiB.
    var hasDecryptedBytes: Bool {
        // NULL without TLS, and with a TLS library other than OpenSSL.
        guard let ssl = PQsslStruct(connection, "OpenSSL"), let pending = OpenSSL.pending else { return false }
        return pending(ssl) > 0
    }

    /// The next item that has fully arrived; `nil` when more must be read first.
    func nextEvent() -> PostgresPipeline<Answer<PostgresResult>, PostgresResult>.Event? {
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

    /// The error without its detail and context, which quote values.
    private func failure(of result: OpaquePointer) -> PostgresError {
        let field = { (code: Int) in PQresultErrorField(result, Int32(code)).map { String(cString: $0) } }
        guard let sqlState = field(DiagnosticField.sqlState) else {
            // Made by libpq itself, not sent by the server.
            return PQstatus(connection) == CONNECTION_BAD
                ? error(.connectionLost) : PostgresError(.server, "An answer of a kind that is not supported.")
        }
        return PostgresError(sqlState: sqlState, primaryMessage: field(DiagnosticField.primaryMessage) ?? "")
    }
}

/// The one function of OpenSSL that libpq offers no way to.
private enum OpenSSL {
    /// `int SSL_pending(const SSL *ssl)`, of the library that libpq itself has loaded; so nothing is linked for it.
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

/// Codes of an error's fields (`postgres_ext.h`); they are character macros there, which Swift does not import.
private enum DiagnosticField {
    static let sqlState = Int(UInt8(ascii: "C"))
    static let primaryMessage = Int(UInt8(ascii: "M"))
}
