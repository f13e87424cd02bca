/// The rows of a query, as the connection received them. A value is copied only when it is decoded.
public struct PostgresResult: Sendable, RandomAccessCollection {
    let handle: ResultHandle

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public let endIndex: Int

    init(_ handle: ResultHandle) {
        self.handle = handle
        endIndex = handle.rowCount
    }

    /// The row at a position.
    public subscript(position: Int) -> PostgresRow { PostgresRow(handle: handle, index: position) }

    /// How many rows the statement inserted, updated, deleted or selected.
    public var affectedRows: Int { handle.affectedRows }
}

/// One row of a ``PostgresResult``.
public struct PostgresRow: Sendable {
    let handle: ResultHandle
    let index: Int

    /// The value of a column, counted from 0.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` if there is no such column, or if it has another type or is
    ///   NULL.
    public func decode<Value: PostgresDecodable>(
        _ column: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard let value = try decodeIfPresent(column, as: type) else { throw unexpected(column, "is NULL") }
        return value
    }

    /// The value of a column, counted from 0; `nil` for NULL.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` if there is no such column, or if it has another type.
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

/// A value that can be decoded from a column in PostgreSQL's binary format.
public protocol PostgresDecodable {
    /// Whether columns of this type hold such values.
    static func isDecodable(from type: PostgresType) -> Bool
    /// Decodes the bytes of a value that is not NULL; `nil` if they are malformed.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Self?
}

extension FixedWidthInteger {
    /// Decodes a number in network byte order; `nil` if the number of bytes is wrong.
    fileprivate static func bigEndian(_ bytes: UnsafeRawBufferPointer) -> Self? {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        return Self(bigEndian: bytes.loadUnaligned(as: Self.self))
    }
}

extension Bool: PostgresDecodable {
    public static func isDecodable(from type: PostgresType) -> Bool { type == .bool }
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> Bool? { bytes.count == 1 ? bytes[0] != 0 : nil }
}

extension Int16: PostgresDecodable {
    public static func isDecodable(from type: PostgresType) -> Bool { type == .int2 }
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> Int16? { bigEndian(bytes) }
}

extension Int32: PostgresDecodable {
    public static func isDecodable(from type: PostgresType) -> Bool { type == .int4 }
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> Int32? { bigEndian(bytes) }
}

extension Int64: PostgresDecodable {
    public static func isDecodable(from type: PostgresType) -> Bool { type == .int8 }
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> Int64? { bigEndian(bytes) }
}

extension String: PostgresDecodable {
    public static func isDecodable(from type: PostgresType) -> Bool { type == .text || type == .varchar }
    // The session's encoding is UTF-8, so the server has validated the bytes.
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> String? { String(decoding: bytes, as: UTF8.self) }
}

extension [UInt8]: PostgresDecodable {
    public static func isDecodable(from type: PostgresType) -> Bool { type == .bytea }
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? { [UInt8](bytes) }
}

extension PostgresUUID: PostgresDecodable {
    public static func isDecodable(from type: PostgresType) -> Bool { type == .uuid }

    public static func decode(_ bytes: UnsafeRawBufferPointer) -> PostgresUUID? {
        guard bytes.count == 16 else { return nil }
        return PostgresUUID(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}
