import Domain
import Testing

struct PayloadSealingTests {
    private let alice = UserName("alice")!
    private let id = NotificationID()

    private func ring(_ ids: String...) throws -> PayloadKeyRing {
        try PayloadKeyRing(ids.map { PayloadKeyRing.newLine(id: $0) }.joined(separator: "\n"))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1000, 256 * 1024])
    func `What is sealed opens again, whatever its length`(_ count: Int) throws {
        let ring = try ring("k1")
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try ring.seal(payload, id: id, recipient: alice)
        #expect(sealed.bytes.count == count + 28)
        #expect(sealed.keyID == "k1")
        #expect(try ring.open(sealed, id: id, recipient: alice) == payload)
    }

    @Test func `Equal payloads are sealed differently`() throws {
        let ring = try ring("k1")
        let sealed = try (0..<100).map { _ in try ring.seal([1, 2, 3], id: id, recipient: alice) }
        #expect(Set(sealed.map { Array($0.bytes.prefix(12)) }).count == 100)
    }

    @Test func `The first key seals, all open`() throws {
        let old = PayloadKeyRing.newLine(id: "old")
        let sealed = try PayloadKeyRing(old).seal([7], id: id, recipient: alice)
        let rotated = try PayloadKeyRing("\(PayloadKeyRing.newLine(id: "new"))\n\(old)")
        #expect(try rotated.open(sealed, id: id, recipient: alice) == [7])
        #expect(try rotated.seal([7], id: id, recipient: alice).keyID == "new")
    }

    @Test func `A key that is not there is named`() throws {
        let sealed = try ring("gone").seal([7], id: id, recipient: alice)
        let error = #expect(throws: PayloadError.self) { try ring("k1").open(sealed, id: id, recipient: alice) }
        #expect(error?.code == .unknownKey)
        #expect(error?.message.contains("gone") ?? false)
    }

    @Test func `It opens for no other notification, user or key`() throws {
        let ring = try ring("k1")
        let sealed = try ring.seal([7], id: id, recipient: try #require(UserName("\u{E9}")))
        let attempts: [(PayloadKeyRing, NotificationID, String)] = [
            (ring, NotificationID(), "\u{E9}"), (ring, id, "e\u{301}"), (ring, id, "alice"),
            (try self.ring("k1"), id, "\u{E9}"),
        ]
        for (ring, id, name) in attempts {
            let recipient = try #require(UserName(name))
            let error = #expect(throws: PayloadError.self) { try ring.open(sealed, id: id, recipient: recipient) }
            #expect(error?.code == .notAuthentic)
        }
    }

    @Test func `Any changed byte is noticed`() throws {
        let ring = try ring("k1")
        let sealed = try ring.seal([1, 2, 3], id: id, recipient: alice)
        for index in sealed.bytes.indices {
            var changed = sealed
            changed.bytes[index] ^= 1
            let error = #expect(throws: PayloadError.self) { try ring.open(changed, id: id, recipient: alice) }
            #expect(error?.code == .notAuthentic)
        }
    }

    @Test(arguments: [0, 1, 12, 27])
    func `Too few bytes are no sealed payload`(_ count: Int) throws {
        let ring = try ring("k1")
        let sealed = SealedPayload(keyID: "k1", bytes: [UInt8](repeating: 0, count: count))
        let error = #expect(throws: PayloadError.self) { try ring.open(sealed, id: id, recipient: alice) }
        #expect(error?.code == .malformed)
    }
}
