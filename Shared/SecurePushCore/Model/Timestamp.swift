#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A point in time: whole milliseconds since the Unix epoch, UTC.
///
/// Written on the wire as RFC 3339 with milliseconds and `Z`. A type of our own because a date formatter costs more
/// than the rest of a request, and because every store keeps exactly this number.
public struct Timestamp: Hashable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The wall clock.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Whole seconds since the Unix epoch, rounded down.
    public var seconds: Int64 { milliseconds.floored(by: 1000).quotient }

    /// A sum that no 64 bits can hold is the latest or the earliest time there is; so are the differences below.
    public static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds.addingClamped(duration.milliseconds))
    }

    public static func - (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds.subtractingClamped(duration.milliseconds))
    }

    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds.subtractingClamped(earlier.milliseconds))
    }
}

extension Timestamp: Comparable {
    public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool { lhs.milliseconds < rhs.milliseconds }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; more than 64 bits can hold is the most that they can.
    public var milliseconds: Int64 {
        let (seconds, isTooMuch) = components.seconds.multipliedReportingOverflow(by: 1000)
        if isTooMuch { return components.seconds < 0 ? .min : .max }
        return seconds.addingClamped(components.attoseconds / 1_000_000_000_000_000)
    }
}

extension Int64 {
    /// The sum, or the nearest number to it that there is.
    public func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number to it that there is.
    public func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, isTooMuch) = subtractingReportingOverflow(other)
        return isTooMuch ? (other > 0 ? .min : .max) : difference
    }

    /// Division that rounds down, so that times before 1970 come out right.
    func floored(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
