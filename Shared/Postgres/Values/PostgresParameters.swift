/// The parameters of a query, `$1` first, in one buffer and in PostgreSQL's binary format.
@usableFromInline
package struct PostgresParameters: Sendable {
    /// The position of a parameter in ``bytes``; `length` is -1 for NULL.
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

    package init() {}

    /// No parameters, with reserved memory.
    ///
    /// - Parameter capacity: the expected number of bytes.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Adds the next parameter; `nil` is NULL.
    @inlinable
    package mutating func append<Value: PostgresEncodable>(_ value: Value?) {
        let offset = bytes.count
        value?.encode(into: &bytes)
        let length = value == nil ? -1 : Int32(bytes.count - offset)
        fields.append(Field(offset: offset, length: length, type: Value.postgresType))
    }

    /// Adds an array as the next parameter, with `value` of each element; `nil` is NULL.
    ///
    /// The values are encoded in place, without an intermediate array (layout: `array_send` in PostgreSQL's
    /// `arrayfuncs.c`).
    @inlinable
    package mutating func append<Elements: Collection, Value: PostgresEncodable>(
        _ elements: Elements, _ value: (Elements.Element) -> Value?
    ) {
        let offset = bytes.count
        bytes.appendBigEndian(Int32(elements.isEmpty ? 0 : 1))
        // Whether there are NULLs; the server ignores this.
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

    /// The types for which a statement is prepared.
    var types: [PostgresType] { fields.map(\.type) }

    func hasTypes(_ types: [PostgresType]) -> Bool {
        fields.count == types.count && zip(fields, types).allSatisfy { $0.type == $1 }
    }
}

/// A value that can be a parameter, or an element of an array parameter, in PostgreSQL's binary format.
@usableFromInline
package protocol PostgresEncodable {
    static var postgresType: PostgresType { get }
    static var postgresArrayType: PostgresType { get }
    /// Appends the value's binary format, without its length.
    func encode(into bytes: inout [UInt8])
}

extension [UInt8] {
    /// Appends a number in network byte order.
    @inlinable
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

extension Bool: PostgresEncodable {
    @inlinable package static var postgresType: PostgresType { .bool }
    @inlinable package static var postgresArrayType: PostgresType { .boolArray }
    @inlinable package func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
}

extension Int16: PostgresEncodable {
    @inlinable package static var postgresType: PostgresType { .int2 }
    @inlinable package static var postgresArrayType: PostgresType { .int2Array }
    @inlinable package func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
}

extension Int32: PostgresEncodable {
    @inlinable package static var postgresType: PostgresType { .int4 }
    @inlinable package static var postgresArrayType: PostgresType { .int4Array }
    @inlinable package func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
}

extension Int64: PostgresEncodable {
    @inlinable package static var postgresType: PostgresType { .int8 }
    @inlinable package static var postgresArrayType: PostgresType { .int8Array }
    @inlinable package func encode(into bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
}

extension String: PostgresEncodable {
    @inlinable package static var postgresType: PostgresType { .text }
    @inlinable package static var postgresArrayType: PostgresType { .textArray }

    @inlinable
    package func encode(into bytes: inout [UInt8]) {
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { bytes.append(contentsOf: $0) }
        if isDone == nil { bytes.append(contentsOf: utf8) }
    }
}

extension [UInt8]: PostgresEncodable {
    @inlinable package static var postgresType: PostgresType { .bytea }
    @inlinable package static var postgresArrayType: PostgresType { .byteaArray }
    @inlinable package func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}

extension PostgresUUID: PostgresEncodable {
    @inlinable package static var postgresType: PostgresType { .uuid }
    @inlinable package static var postgresArrayType: PostgresType { .uuidArray }

    @inlinable
    package func encode(into bytes: inout [UInt8]) {
        bytes.appendBigEndian(high)
        bytes.appendBigEndian(low)
    }
}
