import SecurePushCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A point in time with the spellings that the hub and the emulator's own API use: milliseconds since 1970, UTC.
struct WireTime: Hashable, Comparable, Sendable {
    /// From 1970 to the end of 9999: what a time from outside may be.
    static let range: ClosedRange<Int64> = 0...253_402_300_799_999

    let milliseconds: Int64

    init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    static var now: WireTime { WireTime(milliseconds: Timestamp.now.milliseconds) }

    static func < (left: WireTime, right: WireTime) -> Bool { left.milliseconds < right.milliseconds }

    /// Whole seconds since 1970.
    var seconds: Int64 { milliseconds / 1000 }

    /// `2026-11-21T10:00:00.123Z` (RFC 3339).
    var rfc3339: String {
        let date = fields
        return pad(date.year, 4) + "-" + pad(date.month, 2) + "-" + pad(date.day, 2) + "T" + pad(date.hour, 2) + ":"
            + pad(date.minute, 2) + ":" + pad(date.second, 2) + "." + pad(Int(milliseconds % 1000), 3) + "Z"
    }

    /// `2026-11-21T10:00:00Z`, as the hub's documents write times.
    var rfc3339Seconds: String { rfc3339.prefix(19) + "Z" }

    /// `20261121100000`, the part of a hub's message ID.
    var compact: String {
        let date = fields
        return pad(date.year, 4) + pad(date.month, 2) + pad(date.day, 2) + pad(date.hour, 2) + pad(date.minute, 2)
            + pad(date.second, 2)
    }

    /// `11/7/2018 12:18:37 AM`, as the hub's errors write it.
    var american: String {
        let date = fields
        let hour = date.hour % 12 == 0 ? 12 : date.hour % 12
        return "\(date.month)/\(date.day)/\(date.year) \(hour):\(pad(date.minute, 2)):\(pad(date.second, 2)) "
            + (date.hour < 12 ? "AM" : "PM")
    }

    private var fields: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        return (
            Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday), Int(parts.tm_hour),
            Int(parts.tm_min), Int(parts.tm_sec)
        )
    }

    private func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
