import SecurePushCore
import Testing

@Suite("Notification IDs")
struct NotificationIDTests {
    @Test("A new ID is a UUID of version 7 and variant 1, with its time")
    func form() throws {
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

    @Test("IDs differ, and sort by time")
    func order() {
        let ids = (0..<1000).map { NotificationID(at: Timestamp(milliseconds: 1_795_000_000_000 + $0)) }
        #expect(ids == ids.sorted())
        #expect(ids.map(\.description) == ids.map(\.description).sorted())
        let sameTime = (0..<1000).map { _ in NotificationID(at: Timestamp(milliseconds: 1)) }
        #expect(Set(sameTime).count == 1000)
    }

    @Test("Text and bytes go there and back")
    func roundTrip() throws {
        for _ in 0..<1000 {
            let id = NotificationID()
            #expect(NotificationID(id.description) == id)
            #expect(NotificationID(utf8: Array(id.description.utf8)) == id)
            #expect(NotificationID(bytes: id.bytes) == id)
            #expect(id.bytes.count == 16)
            #expect(id.bytes.hex == id.description.filter { $0 != "-" })
        }
    }

    @Test("The example of RFC 9562, appendix A.6")
    func example() throws {
        let id = try #require(NotificationID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"))
        #expect(id.timestamp.milliseconds == 0x017F_22E2_79B0)
        #expect(id.bytes[0] == 0x01 && id.bytes[15] == 0x8F)
    }

    @Test(
        "Anything but 36 characters in lower case is none",
        arguments: [
            "", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "017f22e279b07cc398c4dc0c0c07398f",
            "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
            " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0", "017f22e2079b0-7cc3-98c4-dc0c0c07398f",
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
            "-17f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c07398\u{663}",
            "017f22e2-79b0-7cc3-98c4-dc0c0c073\u{E9}", "017f22e2\u{2010}79b0-7cc3-98c4-dc0c0c0739",
        ])
    func refused(_ text: String) {
        #expect(NotificationID(text) == nil)
        #expect(NotificationID(utf8: Array(text.utf8)) == nil)
    }

    @Test("Another number of bytes is none", arguments: [0, 15, 17, 36])
    func wrongLength(_ count: Int) {
        #expect(NotificationID(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }
}
