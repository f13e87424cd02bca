import Domain
import Foundations
import Testing

@testable import Storage

struct DeliveriesCodingTests {
    private let time = Timestamp(milliseconds: 1_790_000_000_123)

    @Test func `The text is what is documented`() {
        let delivery = Delivery(platform: .apple, state: .sent, attempts: 1, hubMessageID: "m1", updatedAt: time)
        #expect(
            StorageCoding.encode([delivery]) == #"[{"p":"apple","s":"sent","n":1,"m":"m1","t":1790000000123}]"#)
        #expect(StorageCoding.encode([]) == "[]")
    }

    @Test(arguments: ["", "plain", "\" \\ /", "\u{0}\u{1}\u{1F}\u{7F}\n\r\t", "é 日本 🎉 \u{2028}"])
    func `Every text comes back`(_ text: String) throws {
        let deliveries = DeliveryState.allCases.map {
            Delivery(
                platform: Platform(rawValue: text), state: $0, attempts: 3, hubMessageID: text, error: text,
                updatedAt: time)
        }
        #expect(try StorageCoding.decodeDeliveries(StorageCoding.encode(deliveries)) == deliveries)
    }

    @Test func `A shared push and a wait come back`() throws {
        let id = try #require(NotificationID("01234567-89ab-7def-8123-456789abcdef"))
        let shared = Delivery(platform: .apple, state: .sent, updatedAt: time, coalescedInto: id)
        let waiting = Delivery(platform: .apple, state: .pending, updatedAt: time, silentSequence: 7)
        #expect(
            StorageCoding.encode([shared, waiting])
                == #"[{"p":"apple","s":"sent","n":0,"t":1790000000123,"c":"01234567-89ab-7def-8123-456789abcdef"},"#
                + #"{"p":"apple","s":"pending","n":0,"t":1790000000123,"w":7}]"#)
        #expect(try StorageCoding.decodeDeliveries(StorageCoding.encode([shared, waiting])) == [shared, waiting])
    }

    @Test func `A push that the first read withdraws comes back`() throws {
        let sent = Delivery(platform: .apple, state: .sent, updatedAt: time, isWithdrawnOnRead: true)
        let text = #"[{"p":"apple","s":"sent","n":0,"t":1790000000123,"r":1}]"#
        #expect(StorageCoding.encode([sent]) == text)
        #expect(try StorageCoding.decodeDeliveries(text) == [sent])
        // Statements search for the member, so nothing but a sent delivery has it.
        let dead = Delivery(platform: .apple, state: .dead, updatedAt: time, isWithdrawnOnRead: true)
        #expect(StorageCoding.encode([dead]) == #"[{"p":"apple","s":"dead","n":0,"t":1790000000123}]"#)
    }

    @Test func `A text of the previous version has no such member`() throws {
        let text = #"[{"p":"apple","s":"sent","n":1,"t":1790000000123}]"#
        let deliveries = try StorageCoding.decodeDeliveries(text)
        #expect(deliveries.map(\.isWithdrawnOnRead) == [false])
        #expect(StorageCoding.encode(deliveries) == text)
    }

    @Test func `Unknown members are passed over`() throws {
        let text = #"[{"p":"apple","s":"sent","n":1,"z":"Success","t":1790000000123}]"#
        let delivery = Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: time)
        #expect(try StorageCoding.decodeDeliveries(text) == [delivery])
    }

    /// Statements search for a sent delivery in which the attempts follow the state.
    @Test func `The outcome follows the state`() throws {
        var delivery = Delivery(platform: .apple, state: .sent, attempts: 1, hubMessageID: "m", updatedAt: time)
        #expect(StorageCoding.encode([delivery]).contains(StorageCoding.sentWithoutOutcome))
        #expect(StorageCoding.encode([delivery]).contains(StorageCoding.messageID))
        delivery.outcome = #"Success=2, "n":"#
        let text = StorageCoding.encode([delivery])
        #expect(
            text == #"[{"p":"apple","s":"sent","o":"Success=2, \"n\":","n":1,"m":"m","t":1790000000123}]"#)
        #expect(!text.contains(StorageCoding.sentWithoutOutcome) && text.contains(StorageCoding.sent))
        #expect(try StorageCoding.decodeDeliveries(text) == [delivery])
    }

    @Test func `An outcome that will change stands behind the attempts`() throws {
        let delivery = Delivery(
            platform: .apple, state: .sent, attempts: 1, hubMessageID: "m", updatedAt: time, outcome: "Unknown")
        let text = StorageCoding.encode([delivery])
        #expect(text.contains(StorageCoding.sentWithoutOutcome) && text.contains(StorageCoding.messageID))
        #expect(try StorageCoding.decodeDeliveries(text) == [delivery])
        #expect(delivery.awaitsOutcome)
    }

    /// An early version wrote the member behind the attempts.
    @Test func `The order of members does not matter`() throws {
        let text = #"[{"p":"apple","s":"sent","n":1,"m":"m","o":"Success","t":1790000000123}]"#
        #expect(try StorageCoding.decodeDeliveries(text).map(\.outcome) == ["Success"])
        #expect(try StorageCoding.decodeDeliveries(text).contains(where: \.awaitsOutcome) == false)
    }

    @Test(arguments: [
        "", "{}", #"[{"p":"apple"}]"#, #"[{"p":"a","s":"lost","n":1,"t":1}]"#,
        // Numbers that the next attempt would overflow.
        #"[{"p":"a","s":"sent","n":9223372036854775807,"t":1}]"#, #"[{"p":"a","s":"sent","n":-1,"t":1}]"#,
        #"[{"p":"a","s":"sent","n":1,"u":9223372036854775807,"t":1}]"#,
        #"[{"p":"a","s":"sent","n":1,"t":9223372036854775807}]"#, #"[{"p":"a","s":"sent","n":1,"t":-1}]"#,
        #"[{"p":"a","s":"sent","n":1e99,"t":1}]"#, #"[{"p":"a","s":"sent","n":0,"t":1,"c":"x"}]"#,
    ])
    func `A foreign text is refused`(_ text: String) {
        #expect { try StorageCoding.decodeDeliveries(text) } throws: { ($0 as? StorageError)?.code == .failed }
    }
}
