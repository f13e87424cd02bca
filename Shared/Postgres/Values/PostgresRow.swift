/// One row of a ``PostgresResult``.
public struct PostgresRow: Sendable {
    let handle: ResultHandle
    let index: Int

    /// The value of a column, counted from 0.
    ///
    /// - Throws: ``PostgresError`` with code `decoding`: no such column, another type, or NULL.
    public func decode<Value: PostgresDecodable>(
        _ column: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard let value = try decodeIfPresent(column, as: type) else { throw unexpected(column, "is NULL") }
        return value
    }

    /// The value of a column, counted from 0; `nil` for NULL.
    ///
    /// - Throws: ``PostgresError`` with code `decoding`: no such column, or another type.
    public func decodeIfPresent<Value: PostgresDecodable>(
        _ column: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value? {
        guard (0..<handle.columnCount).contains(column) else {
            throw PostgresError(.decoding, "There is no column \(column).")
        }
        let found = handle.type(of: column)
        guard type.isDecodable(from: found) else { throw unexpected(column, "is \(found), not \(type)") }
        let (isNull, value) = handle.withValue(row: index, column: column) { bytes in
            bytes.map { (false, type.decode($0)) } ?? (true, nil)
        }
        if !isNull, value == nil { throw unexpected(column, "is malformed") }
        return value
    }

    private func unexpected(_ column: Int, _ finding: String) -> PostgresError {
        PostgresError(.decoding, "Column \(column) (\(handle.name(of: column))) \(finding).")
    }
}
