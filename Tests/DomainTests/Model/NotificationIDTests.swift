import Testing

@testable import Domain
@testable import Foundations

struct NotificationIDTests {
    @Test func `A new ID is a UUID of version 7 and variant 1, with its time`() throws {
        let time = Timestamp(milliseconds: 0x0192_3456_789A)
        for _ in 0..<1000 {
            let text = Array(NotificationID(at: time).description)
            #expect(text.count == 36)
            #expect(String(text[..<13]) == "01923456-789a")
            #expect(text[14] == "7" && "89ab".contains(text[19]))
            #expect([8, 13, 18, 23].allSatisfy { text[$0] == "-" })
        }
        #expect(NotificationID(at: time).timestamp == time)
    }

    @Test func `IDs differ, and sort by time`() {
        let ids = (0..<1000).map { NotificationID(at: Timestamp(milliseconds: 1_795_000_000_000 + $0)) }
        #expect(ids == ids.sorted())
        #expect(ids.map(\.description) == ids.map(\.description).sorted())
        let sameTime = (0..<1000).map { _ in NotificationID(at: Timestamp(milliseconds: 1)) }
        #expect(Set(sameTime).count == 1000)
    }

    @Test func `IDs of one process come in order, from all its threads`() async {
        let ids = (0..<20_000).map { _ in NotificationID() }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        let groups = await withTaskGroup(of: [NotificationID].self) { group in
            for _ in 0..<8 { group.addTask { (0..<5000).map { _ in NotificationID() } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for ids in groups { #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }) }
        #expect(Set(groups.joined()).count == 40_000)
    }

    @Test
    func `A millisecond's counter that is used up goes on in the next one; a clock that goes back changes nothing`() {
        var (counter, generator) = (NotificationIDCounter(), SystemRandomNumberGenerator())
        var ids = (0..<10_000).map { _ in counter.next(at: 1000, using: &generator) }
        #expect(ids.first?.timestamp.milliseconds == 1000)
        // The counter begins below half of what it holds.
        #expect(ids[2047].timestamp.milliseconds == 1000)
        #expect([1001, 1002].contains(ids[8191 - 2048].timestamp.milliseconds))
        ids += [999, 0, -1, .min, 1000, 1001, 1002].map { counter.next(at: $0, using: &generator) }
        ids += [5000, 4000, .max, .min, .max].map { counter.next(at: $0, using: &generator) }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        #expect(ids.suffix(3).allSatisfy { $0.timestamp.milliseconds == 1 << 48 - 1 })
        #expect(ids.allSatisfy { $0.description.dropFirst(14).first == "7" })
        #expect(ids.allSatisfy { id in "89ab".contains { $0 == id.description.dropFirst(19).first } })
    }

    @Test func `Each ID has 62 random bits of its own`() {
        var (counter, generator) = (NotificationIDCounter(), SystemRandomNumberGenerator())
        let ids = (0..<2000).map { _ in counter.next(at: 7, using: &generator) }
        for bit in 0..<62 {
            let ones = ids.count { $0.low >> UInt64(bit) & 1 == 1 }
            // A thousand are expected; 300 away is more than 13 standard deviations.
            #expect((700...1300).contains(ones))
        }
    }

    @Test(arguments: [Int64.min, -1, 1 << 48, .max])
    func `A time that 48 bits cannot hold is the nearest that they can`(_ milliseconds: Int64) {
        let id = NotificationID(at: Timestamp(milliseconds: milliseconds))
        #expect(id.timestamp.milliseconds == (milliseconds < 0 ? 0 : 1 << 48 - 1))
        #expect(NotificationID(id.description) == id)
    }

    @Test func `Text and bytes go there and back`() throws {
        for _ in 0..<1000 {
            let id = NotificationID()
            #expect(NotificationID(id.description) == id)
            #expect(NotificationID(utf8: Array(id.description.utf8)) == id)
            #expect(NotificationID(bytes: id.bytes) == id)
            #expect(id.bytes.count == 16)
            #expect(id.bytes.hex == id.description.filter { $0 != "-" })
        }
    }

    @Test func `The example of RFC 9562, appendix A.6`() throws {
        let id = try #require(NotificationID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"))
        #expect(id.timestamp.milliseconds == 0x017F_22E2_79B0)
        #expect(id.bytes[0] == 0x01 && id.bytes[15] == 0x8F)
    }

    @Test(arguments: ["017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "017f22E2-79b0-7CC3-98c4-dC0C0C07398f"])
    func `It is read without regard to case, and written in lower case`(_ text: String) throws {
        let lower = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
        let id = try #require(NotificationID(text))
        #expect(id == NotificationID(lower) && id.description == lower)
    }

    @Test(arguments: [
        "", "017F22E2-79B0-7CC3-98C4-DC0C0C07398G", "017f22e279b07cc398c4dc0c0c07398f",
        "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
        " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0", "017f22e2079b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
        "-17f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c07398\u{663}",
        "017f22e2-79b0-7cc3-98c4-dc0c0c073\u{E9}", "017f22e2\u{2010}79b0-7cc3-98c4-dc0c0c0739",
    ])
    func `Anything but the 36 characters of a UUID is none`(_ text: String) {
        #expect(NotificationID(text) == nil)
        #expect(NotificationID(utf8: Array(text.utf8)) == nil)
    }

    @Test(arguments: [0, 15, 17, 36])
    func `Another number of bytes is none`(_ count: Int) {
        #expect(NotificationID(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }
}
