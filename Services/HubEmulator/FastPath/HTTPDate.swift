import NIOCore

/// `Sun, 06 Nov 1994 08:49:37 GMT`: times as HTTP writes them (RFC 9110, 5.6.7).
enum HTTPDate {
    private static let days = Array("ThuFriSatSunMonTueWed".utf8)
    private static let months = Array("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)

    static func write(_ time: WireTime, to buffer: inout ByteBuffer) {
        let day = Int(time.seconds / 86_400)
        let second = Int(time.seconds % 86_400)
        let date = CivilDate(daysSince1970: day)
        // 1970 began on a Thursday.
        buffer.writeBytes(days[(day % 7 * 3)...].prefix(3))
        buffer.writeStaticString(", ")
        write(date.day, to: &buffer)
        buffer.writeStaticString(" ")
        buffer.writeBytes(months[((date.month - 1) * 3)...].prefix(3))
        buffer.writeStaticString(" ")
        write(date.year / 100, to: &buffer)
        write(date.year % 100, to: &buffer)
        buffer.writeStaticString(" ")
        write(second / 3600, to: &buffer)
        buffer.writeStaticString(":")
        write(second / 60 % 60, to: &buffer)
        buffer.writeStaticString(":")
        write(second % 60, to: &buffer)
        buffer.writeStaticString(" GMT")
    }

    /// Two digits.
    private static func write(_ number: Int, to buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt8(ascii: "0") + UInt8(number / 10))
        buffer.writeInteger(UInt8(ascii: "0") + UInt8(number % 10))
    }
}
