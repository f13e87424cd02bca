import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct OwnerTests {
    @Test(arguments: conformingStores)
    func `Another's and an unknown one are both not there`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        #expect(try await store.find(sent.id, recipient: .bob) == nil)
        #expect(try await store.find(NotificationID(), recipient: .alice) == nil)
    }

    @Test(arguments: conformingStores)
    func `The time before which it is not there is given with it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = [SealedNotification.sample(notBefore: noon + .milliseconds(1)), .sample()]
        try await store.append(sent)
        #expect(try await store.find(sent[0].id, recipient: .alice)?.notBefore == noon + .milliseconds(1))
        let other = try #require(try await store.find(sent[1].id, recipient: .alice))
        #expect(other.notBefore == nil)
    }

    /// Pairs that some comparison or other holds equal.
    static let lookalikes: [(String, String)] = [
        ("\u{E9}", "e\u{301}"), ("alice", "Alice"), ("alice", "alice "), ("\u{212B}", "\u{C5}"),
        ("stra\u{DF}e", "strasse"),
        ("1", "01"), ("a%", "ab"), ("\u{1F469}\u{200D}\u{1F4BB}", "\u{1F469}\u{1F4BB}"),
    ]

    @Test(arguments: conformingStores, lookalikes)
    func `Names are compared byte for byte`(_ kind: StoreKind, _ names: (String, String)) async throws {
        let store = try await kind.open()
        let (one, other) = (try #require(UserName(names.0)), try #require(UserName(names.1)))
        let first = SealedNotification.sample(to: one)
        let second = SealedNotification.sample(to: other)
        try await store.append([first, second])
        #expect(try await store.find(first.id, recipient: one) != nil)
        #expect(try await store.find(first.id, recipient: other) == nil)
        #expect(try await store.find(second.id, recipient: other) != nil)
        #expect(try await store.find(second.id, recipient: one) == nil)
    }

    static let names = [
        "x", String(repeating: "n", count: 1024), String(repeating: "\u{1F511}", count: 256), "a'b\"c\\d", "%_;--",
        "\u{5D0}\u{200F}\u{627}", "\u{FEFF}bom", "\u{10FFFF}", "{},NULL", "\\x00", "e\u{301}\u{E9}",
    ]

    @Test(arguments: conformingStores, names)
    func `Any name comes back byte for byte`(_ kind: StoreKind, _ text: String) async throws {
        let store = try await kind.open()
        let name = try #require(UserName(text))
        let sent = SealedNotification.sample(to: name)
        try await store.append([sent])
        #expect(try await store.find(sent.id, recipient: name) != nil)
        let plan = try await store.claim([sent.id], now: noon)[sent.id]
        #expect(plan.map { Array($0.recipient.text.utf8) } == Array(text.utf8))
    }
}
