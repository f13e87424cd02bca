import SecurePushCore
import Testing

@testable import Storage

struct DeliveriesCodingTests {
    private let time = Timestamp(milliseconds: 1_790_000_000_123)

    @Test func theTextIsWhatIsDocumented() {
        let delivery = Delivery(platform: .apple, state: .sent, attempts: 1, hubMessageID: "m1", updatedAt: time)
        #expect(
            DeliveriesCoding.encode([delivery]) == #"[{"p":"apple","s":"sent","n":1,"m":"m1","t":1790000000123}]"#)
        #expect(DeliveriesCoding.encode([]) == "[]")
    }

    @Test(arguments: ["", "plain", "\" \\ /", "\u{0}\u{1}\u{1F}\u{7F}\n\r\t", "é 日本 🎉 \u{2028}"])
    func everyTextComesBack(_ text: String) throws {
        let deliveries = DeliveryState.allCases.map {
            Delivery(
                platform: Platform(rawValue: text), state: $0, attempts: 3, hubMessageID: text, outcome: text,
                error: text, updatedAt: time)
        }
        #expect(try DeliveriesCoding.decode(DeliveriesCoding.encode(deliveries)) == deliveries)
    }

    @Test func numbersOfAttemptsAreBoundedBothWays() throws {
        let text = #"[{"p":"apple","s":"retrying","n":9223372036854775807,"u":-9223372036854775808,"t":1}]"#
        let delivery = try #require(try DeliveriesCoding.decode(text).first)
        #expect(delivery.attempts == 1_000_000 && delivery.unanswered == 0)
    }

    @Test(arguments: ["", "{}", #"[{"p":"apple"}]"#, #"[{"p":"a","s":"lost","n":1,"t":1}]"#])
    func aForeignTextIsRefused(_ text: String) {
        #expect { try DeliveriesCoding.decode(text) } throws: { ($0 as? StorageError)?.code == .failed }
    }
}
