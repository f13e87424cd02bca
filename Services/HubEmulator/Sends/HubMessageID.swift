import Foundation

/// The ID that the hub gives a send, in the shape of the recorded ones: 32 hexadecimal digits, time, two numbers.
enum HubMessageID {
    static func make(at time: WireTime) -> String {
        var random = SystemRandomNumberGenerator()
        let digits = hex(random.next()) + hex(random.next())
        return "\(digits)-\(time.compact)-\(Int.random(in: 1...99_999_999))-\(Int.random(in: 1...99))"
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
