import Domain
import Foundations
import StackKit
import Testing

/// Many pairs of values that are nearly the same: their tags and signed texts differ, and a signature of one is not
/// valid for the other.
struct PushForgeryTests {
    /// Pieces that case, escapes, normalising or line ends could fold. None of it is a control character, which no name
    /// has.
    private static let pieces: [[UInt8]] = [
        "a", "A", "b", "#", "2", "3", "41", "c", "\u{E9}", "e\u{301}", "@", " ", "_", "|", "k", "\u{212A}", "i",
        "\u{130}", "##", "#41", "withdraw", "1790000000", "\u{2028}", "\\n",
    ].map { Array($0.utf8) }

    private static func name(_ generator: inout SeededGenerator) -> [UInt8] {
        let word = generator.next()
        // One in 64 is so long that its tag is a hash.
        let count = word & 63 == 0 ? 40 + Int(word >> 8 & 63) : 1 + Int(word >> 8 & 1)
        var name: [UInt8] = []
        for _ in 0..<count { name += pieces[generator.below(pieces.count)] }
        return name
    }

    /// The name with one piece inserted, one byte's case changed, or its end removed.
    private static func changed(_ name: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var name = name
        switch generator.next() & 3 {
        case 0: name += pieces[generator.below(pieces.count)]
        case 1: name.insert(UInt8(ascii: "#"), at: 0)
        case 2 where name.count > 1 && name[name.count - 1] < 0x80: name.removeLast()
        default:
            let index = generator.below(name.count)
            if name[index] < 0x80 {
                name[index] = name[index] == UInt8(ascii: "a") ? UInt8(ascii: "A") : UInt8(ascii: "a")
            }
        }
        return name
    }

    private static func user(_ name: [UInt8]) -> UserName? { UserName(String(decoding: name, as: UTF8.self)) }

    @Test func `A million pairs of names: no two tags are the same`() throws {
        var generator = SeededGenerator(seed: 12)
        var pairs = 0
        while pairs < 1_000_000 {
            let first = Self.name(&generator)
            let second = Self.changed(first, &generator)
            guard first != second, let one = Self.user(first), let other = Self.user(second) else { continue }
            pairs += 1
            // Not one expectation each: a million of them take longer than the tags.
            if one.tag == other.tag { Issue.record("\(one) and \(other) have the same tag.") }
        }
        #expect(pairs == 1_000_000)
    }

    @Test func `A million pairs of pushes: no two signed texts are the same`() throws {
        var generator = SeededGenerator(seed: 13)
        let ids = (0..<64).map { _ in NotificationID() }
        var pairs = 0
        while pairs < 1_000_000 {
            let word = generator.next()
            let name = Self.name(&generator)
            let otherName = word & 3 == 0 ? Self.changed(name, &generator) : name
            let (id, otherID) = (ids[Int(word >> 8 & 63)], ids[Int(word >> 16 & 63)])
            let (time, otherTime) = (Int64(word >> 24 & 3), Int64(word >> 28 & 3))
            let (withdraw, otherWithdraw) = (word & 16 == 0, word & 32 == 0)
            guard name != otherName || id != otherID || time != otherTime || withdraw != otherWithdraw,
                let one = Self.user(name), let other = Self.user(otherName)
            else { continue }
            pairs += 1
            let text = PushSignature.signedText(id, recipient: one, timestamp: time, withdraw: withdraw)
            let otherText = PushSignature.signedText(
                otherID, recipient: other, timestamp: otherTime, withdraw: otherWithdraw)
            if text == otherText { Issue.record("Two pushes have the same text: \(one), \(other)") }
        }
        #expect(pairs == 1_000_000)
    }

    /// The default is small, because verifying takes time. `SECUREPUSH_FORGERIES=1000000` tries a million.
    @Test func `No forged signature is accepted`() throws {
        let rounds = SeededGenerator.rounds("SECUREPUSH_FORGERIES", default: 2000)
        var generator = SeededGenerator(seed: 14)
        let (key, otherKey) = (PushSigningKey(), PushSigningKey())
        let (signer, otherSigner) = (PushSigner(key: key), PushSigner(key: otherKey))
        var (accepted, refused) = (0, 0)
        for _ in 0..<rounds {
            let name = Self.name(&generator)
            guard let recipient = Self.user(name) else { continue }
            let id = NotificationID()
            let now = Timestamp(milliseconds: Int64(generator.next() >> 22))
            let withdraw = generator.next() & 1 == 0
            let genuine = try #require(signer.sign(id, for: recipient, withdraw: withdraw, now: now))
            let kind = generator.below(6)
            let other = kind == 0 ? Self.user(Self.changed(name, &generator)) ?? recipient : recipient
            let otherID = kind == 1 ? NotificationID(high: id.high, low: id.low ^ 1 << (generator.next() & 63)) : id
            let timestamp = kind == 2 ? genuine.timestamp ^ 1 << Int64(generator.below(40)) : genuine.timestamp
            var text = genuine.signature
            if kind == 4 {
                text = try #require(otherSigner.sign(id, for: recipient, withdraw: withdraw, now: now)).signature
            } else if kind == 5 {
                var bytes = try #require(Base64.decode(text, .url))
                bytes[generator.below(64)] ^= 1 << UInt8(generator.next() & 7)
                text = Base64.encode(bytes, .url)
            }
            let forged = PushSignature(timestamp: timestamp, signature: text)
            let isSame = kind == 0 && other == recipient
            let isValid = key.publicKey.isValid(
                forged, of: otherID, recipient: other, withdraw: kind == 3 ? !withdraw : withdraw)
            if isSame { accepted += isValid ? 1 : 0 } else { refused += 1 }
            if isValid != isSame { Issue.record("A forgery of kind \(kind) was judged wrongly for \(recipient).") }
            if refused % 100 == 0 {
                #expect(key.publicKey.isValid(genuine, of: id, recipient: recipient, withdraw: withdraw))
            }
        }
        #expect(refused > rounds * 8 / 10)
    }
}
