/// The type of a parameter or a column by its OID (PostgreSQL's `pg_type.dat`; OIDs never change).
public struct PostgresType: Hashable, Sendable, RawRepresentable {
    /// The OID.
    public let rawValue: UInt32

    /// The type with this OID.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `bool`.
    public static let bool = PostgresType(rawValue: 16)
    /// `bytea`.
    public static let bytea = PostgresType(rawValue: 17)
    /// `bigint`.
    public static let int8 = PostgresType(rawValue: 20)
    /// `smallint`.
    public static let int2 = PostgresType(rawValue: 21)
    /// `integer`.
    public static let int4 = PostgresType(rawValue: 23)
    /// `text`.
    public static let text = PostgresType(rawValue: 25)
    /// `varchar`.
    public static let varchar = PostgresType(rawValue: 1043)
    /// `uuid`.
    public static let uuid = PostgresType(rawValue: 2950)

    /// `bool[]`.
    public static let boolArray = PostgresType(rawValue: 1000)
    /// `bytea[]`.
    public static let byteaArray = PostgresType(rawValue: 1001)
    /// `smallint[]`.
    public static let int2Array = PostgresType(rawValue: 1005)
    /// `integer[]`.
    public static let int4Array = PostgresType(rawValue: 1007)
    /// `text[]`.
    public static let textArray = PostgresType(rawValue: 1009)
    /// `bigint[]`.
    public static let int8Array = PostgresType(rawValue: 1016)
    /// `uuid[]`.
    public static let uuidArray = PostgresType(rawValue: 2951)
}

extension PostgresType: CustomStringConvertible {
    public var description: String {
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
public struct PostgresUUID: Hashable, Sendable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// A UUID of its two halves.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
