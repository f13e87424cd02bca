/// The rows of a query, as the connection received them. A value is copied only when it is decoded.
@usableFromInline
package struct PostgresResult: Sendable, RandomAccessCollection {
    @usableFromInline let handle: ResultHandle

    @inlinable package var startIndex: Int { 0 }
    @usableFromInline package let endIndex: Int

    init(_ handle: ResultHandle) {
        self.handle = handle
        endIndex = handle.rowCount
    }

    @inlinable
    package subscript(position: Int) -> PostgresRow { PostgresRow(handle: handle, index: position) }

    /// How many rows the statement inserted, updated, deleted or selected.
    package var affectedRows: Int { handle.affectedRows }
}

/// One row of a ``PostgresResult``.
///
/// Decoding is inlinable. Otherwise other modules would call it unspecialised, and build generic metadata for each
/// value.
@usableFromInline
package struct PostgresRow: Sendable {
    @usableFromInline let handle: ResultHandle
    @usableFromInline let index: Int

    @inlinable
    init(handle: ResultHandle, index: Int) {
        self.handle = handle
        self.index = index
    }

    /// The value of a column, counted from 0.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` if there is no such column, or if it has another type or is
    ///   NULL.
    @inlinable
    package func decode<Value: PostgresDecodable>(
        _ column: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard let value = try decodeIfPresent(column, as: type) else { throw isNull(column) }
        return value
    }

    /// The value of a column, counted from 0; `nil` for NULL.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` if there is no such column, or if it has another type.
    @inlinable
    package func decodeIfPresent<Value: PostgresDecodable>(
        _ column: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value? {
        guard let found = handle.type(of: column), type.isDecodable(from: found) else {
            throw mismatch(column, type)
        }
        return try withExtendedLifetime(handle) { () throws(PostgresError) -> Value? in
            guard let bytes = handle.value(row: index, column: column) else { return nil }
            guard let value = type.decode(bytes) else { throw isMalformed(column) }
            return value
        }
    }

    package var columnCount: Int { handle.columnCount }

    /// The type of a column; `nil` if there is no such column.
    package func type(of column: Int) -> PostgresType? { handle.type(of: column) }

    package func name(of column: Int) -> String { handle.name(of: column) }

    @usableFromInline
    func mismatch(_ column: Int, _ type: any PostgresDecodable.Type) -> PostgresError {
        guard let found = handle.type(of: column) else {
            return PostgresError(.decoding, "There is no column \(column).")
        }
        return unexpected(column, "is \(found), not \(type)")
    }

    @usableFromInline
    func isNull(_ column: Int) -> PostgresError { unexpected(column, "is NULL") }

    @usableFromInline
    func isMalformed(_ column: Int) -> PostgresError { unexpected(column, "is malformed") }

    private func unexpected(_ column: Int, _ finding: String) -> PostgresError {
        PostgresError(.decoding, "Column \(column) (\(handle.name(of: column))) \(finding).")
    }
}

/// A value that can be decoded from a column in PostgreSQL's binary format.
@usableFromInline
package protocol PostgresDecodable {
    /// Whether columns of this type hold such values.
    static func isDecodable(from type: PostgresType) -> Bool
    /// Decodes the bytes of a value that is not NULL; `nil` if they are malformed.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Self?
}

extension FixedWidthInteger {
    /// Decodes a number in network byte order; `nil` if the number of bytes is wrong.
    @inlinable
    static func bigEndian(_ bytes: UnsafeRawBufferPointer) -> Self? {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        return Self(bigEndian: bytes.loadUnaligned(as: Self.self))
    }
}

extension Bool: PostgresDecodable {
    @inlinable package static func isDecodable(from type: PostgresType) -> Bool { type == .bool }
    @inlinable
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> Bool? { bytes.count == 1 ? bytes[0] != 0 : nil }
}

extension Int16: PostgresDecodable {
    @inlinable package static func isDecodable(from type: PostgresType) -> Bool { type == .int2 }
    @inlinable package static func decode(_ bytes: UnsafeRawBufferPointer) -> Int16? { bigEndian(bytes) }
}

extension Int32: PostgresDecodable {
    @inlinable package static func isDecodable(from type: PostgresType) -> Bool { type == .int4 }
    @inlinable package static func decode(_ bytes: UnsafeRawBufferPointer) -> Int32? { bigEndian(bytes) }
}

extension Int64: PostgresDecodable {
    @inlinable package static func isDecodable(from type: PostgresType) -> Bool { type == .int8 }
    @inlinable package static func decode(_ bytes: UnsafeRawBufferPointer) -> Int64? { bigEndian(bytes) }
}

extension String: PostgresDecodable {
    @inlinable package static func isDecodable(from type: PostgresType) -> Bool { type == .text || type == .varchar }
    // The session's encoding is UTF-8, so the server has validated the bytes.
    @inlinable
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> String? { String(decoding: bytes, as: UTF8.self) }
}

extension [UInt8]: PostgresDecodable {
    @inlinable package static func isDecodable(from type: PostgresType) -> Bool { type == .bytea }
    @inlinable package static func decode(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? { [UInt8](bytes) }
}

extension PostgresUUID: PostgresDecodable {
    @inlinable package static func isDecodable(from type: PostgresType) -> Bool { type == .uuid }

    @inlinable
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> PostgresUUID? {
        guard bytes.count == 16 else { return nil }
        return PostgresUUID(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}
