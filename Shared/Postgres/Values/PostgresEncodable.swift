/// A value that can be a parameter, or an element of an array parameter, in PostgreSQL's binary form.
public protocol PostgresEncodable {
    static var postgresType: PostgresType { get }
    static var postgresArrayType: PostgresType { get }
    /// Appends the value's binary form, without its length.
    func encode(into bytes: inout [UInt8])
}

extension [UInt8] {
    /// Appends a number in network order.
    @inlinable
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

extension Bool: PostgresEncodable {
    @inlinable public static var postgresType: PostgresType { .bool }
    @inlinable public static var postgresArrayType: PostgresType { .boolArray }
    @inlinable public func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
}

extension Int16: PostgresEncodable {
    @inlinable public static var postgresType: PostgresType { .int2 }
    @inlinable public static var postgresArrayType: PostgresType { .int2Array }
    @inlinable public func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
}

extension Int32: PostgresEncodable {
    @inlinable public static var postgresType: PostgresType { .int4 }
    @inlinable public static var postgresArrayType: PostgresType { .int4Array }
    @inlinable public func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
}

extension Int64: PostgresEncodable {
    @inlinable public static var postgresType: PostgresType { .int8 }
    @inlinable public static var postgresArrayType: PostgresType { .int8Array }
    @inlinable public func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
}

extension String: PostgresEncodable {
    @inlinable public static var postgresType: PostgresType { .text }
    @inlinable public static var postgresArrayType: PostgresType { .textArray }

    @inlinable
    public func encode(into bytes: inout [UInt8]) {
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { bytes.append(contentsOf: $0) }
        if isDone == nil { bytes.append(contentsOf: utf8) }
    }
}

extension [UInt8]: PostgresEncodable {
    @inlinable public static var postgresType: PostgresType { .bytea }
    @inlinable public static var postgresArrayType: PostgresType { .byteaArray }
    @inlinable public func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}

extension PostgresUUID: PostgresEncodable {
    @inlinable public static var postgresType: PostgresType { .uuid }
    @inlinable public static var postgresArrayType: PostgresType { .uuidArray }

    @inlinable
    public func encode(into bytes: inout [UInt8]) {
        bytes.appendBigEndian(high)
        bytes.appendBigEndian(low)
    }
}
