/// The type of a parameter or a column by its OID (PostgreSQL's `pg_type.dat`; OIDs never change).
///
/// The types are computed properties, so that other modules compare numbers and load no globals.
@usableFromInline
package struct PostgresType: Hashable, Sendable, RawRepresentable {
    /// The OID.
    @usableFromInline package let rawValue: UInt32

    @inlinable
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    @inlinable
    package static func == (left: PostgresType, right: PostgresType) -> Bool { left.rawValue == right.rawValue }

    @inlinable package static var bool: PostgresType { PostgresType(rawValue: 16) }
    @inlinable package static var bytea: PostgresType { PostgresType(rawValue: 17) }
    @inlinable package static var int8: PostgresType { PostgresType(rawValue: 20) }
    @inlinable package static var int2: PostgresType { PostgresType(rawValue: 21) }
    @inlinable package static var int4: PostgresType { PostgresType(rawValue: 23) }
    @inlinable package static var text: PostgresType { PostgresType(rawValue: 25) }
    @inlinable package static var varchar: PostgresType { PostgresType(rawValue: 1043) }
    @inlinable package static var uuid: PostgresType { PostgresType(rawValue: 2950) }

    @inlinable package static var boolArray: PostgresType { PostgresType(rawValue: 1000) }
    @inlinable package static var byteaArray: PostgresType { PostgresType(rawValue: 1001) }
    @inlinable package static var int2Array: PostgresType { PostgresType(rawValue: 1005) }
    @inlinable package static var int4Array: PostgresType { PostgresType(rawValue: 1007) }
    @inlinable package static var textArray: PostgresType { PostgresType(rawValue: 1009) }
    @inlinable package static var int8Array: PostgresType { PostgresType(rawValue: 1016) }
    @inlinable package static var uuidArray: PostgresType { PostgresType(rawValue: 2951) }
}

extension PostgresType: CustomStringConvertible {
    @usableFromInline package var description: String {
        switch self {
        case .bool: "bool"
        case .bytea: "bytea"
        case .int8: "int8"
        case .int2: "int2"
        case .int4: "int4"
        case .text: "text"
        case .varchar: "varchar"
        case .uuid: "uuid"
        default: "type \(rawValue)"
        }
    }
}

/// A `uuid` as its first and last eight bytes, big-endian.
@usableFromInline
package struct PostgresUUID: Hashable, Sendable {
    @usableFromInline package let high: UInt64
    @usableFromInline package let low: UInt64

    @inlinable
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
