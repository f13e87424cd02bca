import Domain
import Foundations
import Testing

struct PayloadKeyRingTests {
    static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    static let otherKey = "/////////////////////////////////////////w8="

    @Test func `Comments, blank lines, tabs and line ends of Windows are taken`() throws {
        let text = "# keys\r\n\r\n  \t\n new-1\t\(Self.otherKey)  \r\n#old \(Self.key)\nold.2_x \(Self.key)"
        #expect(try PayloadKeyRing(text).keyIDs == ["new-1", "old.2_x"])
    }

    @Test(arguments: [
        ("k1", 1), ("# c\n\nk1 \(key) more", 3), ("k1 \(key)\nk1 \(otherKey)", 2), ("k/1 \(key)", 1),
        ("\(key) k1", 1),
        ("k1 AAECAwQFBgcICQoLDA0ODw==", 1), ("k1 \(key)AAAA", 1), ("k1 !\(key.dropFirst())", 1),
        ("k1 \(key.dropLast())", 1),
        ("\(String(repeating: "k", count: 65)) \(key)", 1), ("k\u{E9} \(key)", 1), (key, 1),
    ])
    func `What is wrong is named by its line, and never shown`(_ text: String, _ line: Int) {
        let error = #expect(throws: SetupError.self) { try PayloadKeyRing(text) }
        #expect(error?.line == line)
        let shown = error.map { "\($0)" } ?? ""
        #expect(shown.hasPrefix("line \(line): "))
        #expect(!shown.contains("AAEC") && !shown.contains("////"))
    }

    @Test(arguments: ["", "\n\n", "# only a comment"])
    func `No key is refused, with what to do`(_ text: String) {
        let error = #expect(throws: SetupError.self) { try PayloadKeyRing(text) }
        #expect(error?.line == nil)
        #expect(error?.message.contains("securepush keys generate") ?? false)
    }

    @Test func `New lines hold a key of their own, and the day`() throws {
        let lines = (0..<100).map { _ in PayloadKeyRing.newLine(at: Timestamp(milliseconds: 1_795_262_400_000)) }
        let ring = try PayloadKeyRing(lines.joined(separator: "\n"))
        #expect(ring.keys.count == 100)
        #expect(ring.keyIDs.allSatisfy { $0.hasPrefix("2026-11-21-") && $0.utf8.count == 17 })
        #expect(Set(lines.map { $0.split(separator: " ")[1] }).count == 100)
        #expect(try PayloadKeyRing(PayloadKeyRing.newLine(id: "mine")).keyIDs == ["mine"])
    }

    @Test func `A key is not shown by a ring's description`() throws {
        let ring = try PayloadKeyRing("k1 \(Self.key)")
        var dumped = ""
        dump(ring, to: &dumped)
        #expect(!dumped.contains("AAEC") && !"\(ring)".contains("AAEC"))
    }
}
