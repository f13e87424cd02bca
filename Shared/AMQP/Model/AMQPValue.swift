/// A value of a field table. Kinds that AMQP has and this does not (decimals) are read as ``void``.
public enum AMQPValue: Sendable, Hashable {
    case string(String)
    /// Any of the integer kinds, and timestamps; sent as a signed 64-bit integer.
    case integer(Int64)
    case boolean(Bool)
    case double(Double)
    case table(AMQPTable)
    case array([AMQPValue])
    case void

    /// The text, when it is a string.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The number, when it is an integer.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
}

extension AMQPValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
