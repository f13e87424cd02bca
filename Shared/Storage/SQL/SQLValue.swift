import Domain
import Foundations

/// The type of a value, by which PostgreSQL prepares a statement.
enum SQLType: Sendable { case bool, integer, text, bytes, id }

/// A value of a column. SQLite has neither truth values nor IDs: these are integers and bytes there.
enum SQLValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case id(NotificationID)
}

enum SQLParameter: Sendable {
    case value(SQLType, SQLValue)
    case list(SQLType, [SQLValue])

    /// Whether SQLite gets it as hexadecimal digits: JSON has no bytes.
    var isHex: Bool {
        switch self {
        case .list(.bytes, _), .list(.id, _): true
        default: false
        }
    }
}

/// A type whose values can be interpolated into ``SQL``.
protocol SQLEncodable: Sendable {
    static var sqlType: SQLType { get }
    var sqlValue: SQLValue { get }
}

/// A type that ``SQLRow`` can read.
protocol SQLDecodable {
    /// `nil` for a value that this program never writes.
    init?(sql value: SQLValue)
}

extension Int64: SQLEncodable, SQLDecodable {
    static var sqlType: SQLType { .integer }
    var sqlValue: SQLValue { .integer(self) }

    init?(sql value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }
}

extension SQLEncodable where Self: FixedWidthInteger {
    static var sqlType: SQLType { .integer }
    var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension SQLDecodable where Self: FixedWidthInteger {
    init?(sql value: SQLValue) {
        guard let number = Int64(sql: value), let fitting = Self(exactly: number) else { return nil }
        self = fitting
    }
}

extension Int: SQLEncodable, SQLDecodable {}
extension Int16: SQLEncodable, SQLDecodable {}
extension Int32: SQLEncodable, SQLDecodable {}

extension Bool: SQLEncodable, SQLDecodable {
    static var sqlType: SQLType { .bool }
    var sqlValue: SQLValue { .bool(self) }

    init?(sql value: SQLValue) {
        switch value {
        case .bool(let bool): self = bool
        case .integer(let number): self = number != 0
        default: return nil
        }
    }
}

extension String: SQLEncodable, SQLDecodable {
    static var sqlType: SQLType { .text }
    var sqlValue: SQLValue { .text(self) }

    init?(sql value: SQLValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }
}

extension [UInt8]: SQLEncodable, SQLDecodable {
    static var sqlType: SQLType { .bytes }
    var sqlValue: SQLValue { .bytes(self) }

    init?(sql value: SQLValue) {
        guard case .bytes(let bytes) = value else { return nil }
        self = bytes
    }
}

extension NotificationID: SQLEncodable, SQLDecodable {
    static var sqlType: SQLType { .id }
    var sqlValue: SQLValue { .id(self) }

    init?(sql value: SQLValue) {
        switch value {
        case .id(let id): self = id
        case .bytes(let bytes): self.init(bytes: bytes)
        default: return nil
        }
    }
}

extension UserName: SQLEncodable, SQLDecodable {
    static var sqlType: SQLType { .text }
    var sqlValue: SQLValue { .text(text) }

    init?(sql value: SQLValue) {
        guard let text = String(sql: value) else { return nil }
        self.init(text)
    }
}

extension Timestamp: SQLEncodable, SQLDecodable {
    static var sqlType: SQLType { .integer }
    var sqlValue: SQLValue { .integer(milliseconds) }

    init?(sql value: SQLValue) {
        guard let milliseconds = Int64(sql: value), Self.storedRange.contains(milliseconds) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension SQLEncodable where Self: RawRepresentable, RawValue: SQLEncodable {
    static var sqlType: SQLType { RawValue.sqlType }
    var sqlValue: SQLValue { rawValue.sqlValue }
}

extension SQLDecodable where Self: RawRepresentable, RawValue: SQLDecodable {
    init?(sql value: SQLValue) {
        guard let raw = RawValue(sql: value) else { return nil }
        self.init(rawValue: raw)
    }
}

extension Platform: SQLEncodable, SQLDecodable {}
extension RegistrationPlatform: SQLEncodable, SQLDecodable {}
extension DeviceLease.Kind: SQLEncodable, SQLDecodable {}
extension DispatchStatus: SQLEncodable, SQLDecodable {}
