import CLibPQ

/// The owner of a `PGresult`.
///
/// Sendable although it holds a pointer: a `PGresult` is not changed after it was made, and libpq lets it be read from
/// any thread (PostgreSQL's manual, 34.20); it is freed once, by the last owner.
final class ResultHandle: @unchecked Sendable {
    private let result: OpaquePointer

    /// Takes over the result.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var rowCount: Int { Int(PQntuples(result)) }
    var columnCount: Int { Int(PQnfields(result)) }

    /// How many rows a statement changed, as its command tag says.
    var affectedRows: Int {
        guard let text = PQcmdTuples(result) else { return 0 }
        return Int(String(cString: text)) ?? 0
    }

    func type(of column: Int) -> PostgresType { PostgresType(rawValue: PQftype(result, Int32(column))) }

    func name(of column: Int) -> String { PQfname(result, Int32(column)).map { String(cString: $0) } ?? "" }

    /// Calls with the bytes of a value, or with `nil` for NULL; the bytes live as long as the call.
    func withValue<Value>(row: Int, column: Int, _ body: (UnsafeRawBufferPointer?) -> Value) -> Value {
        let (row, column) = (Int32(row), Int32(column))
        guard PQgetisnull(result, row, column) == 0 else { return body(nil) }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
        return withExtendedLifetime(self) { body(bytes) }
    }
}
