/// A `uuid` as its first and last eight bytes, big-endian.
public struct PostgresUUID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
