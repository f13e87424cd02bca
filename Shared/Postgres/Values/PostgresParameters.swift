/// The parameters of a query, `$1` first, all in one buffer in PostgreSQL's binary form.
public struct PostgresParameters: Sendable {
    /// Where a parameter lies in ``bytes``; `length` is -1 for NULL.
    @usableFromInline
    struct Field: Sendable {
        @usableFromInline let offset: Int
        @usableFromInline let length: Int32
        @usableFromInline let type: PostgresType

        @inlinable
        init(offset: Int, length: Int32, type: PostgresType) {
            self.offset = offset
            self.length = length
            self.type = type
        }
    }

    @usableFromInline var bytes: [UInt8] = []
    @usableFromInline var fields: [Field] = []

    /// No parameters.
    public init() {}

    /// No parameters yet, but room for them.
    ///
    /// - Parameter capacity: the number of bytes that are to come.
    public init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Adds the next parameter; `nil` is NULL.
    @inlinable
    public mutating func append<Value: PostgresEncodable>(_ value: Value?) {
        let offset = bytes.count
        value?.encode(into: &bytes)
        let length = value == nil ? -1 : Int32(bytes.count - offset)
        fields.append(Field(offset: offset, length: length, type: Value.postgresType))
    }

    /// Adds an array as the next parameter: of each element what `value` makes of it, `nil` being NULL.
    ///
    /// The elements are encoded where they are; no array of the values is made (layout: `array_send` in PostgreSQL's
    /// `arrayfuncs.c`).
    @inlinable
    public mutating func append<Elements: Collection, Value: PostgresEncodable>(
        _ elements: Elements, _ value: (Elements.Element) -> Value?
    ) {
        let offset = bytes.count
        bytes.appendBigEndian(Int32(elements.isEmpty ? 0 : 1))
        // Whether there are NULLs; the server counts them itself.
        bytes.appendBigEndian(Int32(0))
        bytes.appendBigEndian(Value.postgresType.rawValue)
        if !elements.isEmpty {
            bytes.appendBigEndian(Int32(elements.count))
            bytes.appendBigEndian(Int32(1))
        }
        for element in elements { appendElement(value(element)) }
        fields.append(Field(offset: offset, length: Int32(bytes.count - offset), type: Value.postgresArrayType))
    }

    @inlinable
    mutating func appendElement(_ value: (some PostgresEncodable)?) {
        guard let value else { return bytes.appendBigEndian(Int32(-1)) }
        let start = bytes.count
        bytes.appendBigEndian(Int32(0))
        value.encode(into: &bytes)
        let length = Int32(bytes.count - start - 4).bigEndian
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: Int32.self) }
    }

    /// What a statement is prepared for.
    var types: [PostgresType] { fields.map(\.type) }

    func hasTypes(_ types: [PostgresType]) -> Bool {
        fields.count == types.count && zip(fields, types).allSatisfy { $0.type == $1 }
    }
}

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
