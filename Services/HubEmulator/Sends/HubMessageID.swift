/// The ID that the hub gives a send, in the shape of the recorded ones: 32 hexadecimal digits, time, two numbers.
///
/// The first number is the send's place in the record log, so that telemetry finds the record without an index.
enum HubMessageID {
    private static let digits = Array("0123456789abcdef".utf8)

    /// - Parameter isSchedule: the shape of scheduled sends: joined by `_`, with a queue's name at the end.
    static func make(at time: WireTime, random: (UInt64, UInt64), sequence: Int, isSchedule: Bool = false) -> String {
        let joint = UInt8(ascii: isSchedule ? "_" : "-")
        return String(unsafeUninitializedCapacity: 96) { buffer in
            var count = 0
            func put(_ byte: UInt8) {
                buffer.initializeElement(at: count, to: byte)
                count += 1
            }
            func put(number: Int, width: Int) {
                var divisor = 1
                var width = width
                while width > 1 || number / divisor >= 10 {
                    divisor *= 10
                    width -= 1
                }
                while divisor > 0 {
                    put(UInt8(ascii: "0") + UInt8(number / divisor % 10))
                    divisor /= 10
                }
            }
            for word in [random.0, random.1] {
                for shift in stride(from: 60, through: 0, by: -4) { put(digits[Int(word >> UInt64(shift) & 15)]) }
            }
            put(joint)
            let date = CivilDate(daysSince1970: Int(time.seconds / 86_400))
            put(number: date.year, width: 4)
            put(number: date.month, width: 2)
            put(number: date.day, width: 2)
            let second = Int(time.seconds % 86_400)
            put(number: second / 3600, width: 2)
            put(number: second / 60 % 60, width: 2)
            put(number: second % 60, width: 2)
            put(joint)
            put(number: sequence, width: 1)
            put(joint)
            put(number: 1 + Int(random.0 % 20), width: 1)
            if isSchedule { for byte in "_QNHQueue1-S1".utf8 { put(byte) } }
            return count
        }
    }

    /// The place in the log that an ID holds; nil when it is none of ours.
    static func sequence(of id: String) -> Int? {
        let parts = id.split(maxSplits: 4, omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        guard parts.count >= 4, parts[0].utf8.count == 32 else { return nil }
        return Int(parts[2]).flatMap { $0 > 0 ? $0 : nil }
    }
}
