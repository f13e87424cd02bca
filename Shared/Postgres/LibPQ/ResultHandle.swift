import CLibPQ

/// The owner of a `PGresult`.
///
/// It is Sendable although it holds a pointer: a `PGresult` is not changed after it was created, and libpq allows any
/// thread to read it (PostgreSQL's manual, 34.20). It is freed once, by the last owner.
@usableFromInline
final class ResultHandle: @unchecked Sendable {
    private let result: OpaquePointer

    /// Takes ownership of the result.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var rowCount: Int { Int(PQntuples(result)) }
    var columnCount: Int { Int(PQnfields(result)) }

    /// How many rows a statement changed, according to its command tag.
    var affectedRows: Int {
        guard let text = PQcmdTuples(result) else { return 0 }
        return Int(String(cString: text)) ?? 0
    }

    /// The type of a column; `nil` if there is no such column.
    @usableFromInline
    func type(of column: Int) -> PostgresType? {
        guard column >= 0, column < columnCount else { return nil }
        return PostgresType(rawValue: PQftype(result, Int32(column)))
    }

    func name(of column: Int) -> String { PQfname(result, Int32(column)).map { String(cString: $0) } ?? "" }

    /// The bytes of a value, which are valid while this owner lives; `nil` for NULL.
    @usableFromInline
    func value(row: Int, column: Int) -> UnsafeRawBufferPointer? {
        let (row, column) = (Int32(row), Int32(column))
        guard PQgetisnull(result, row, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }
}
