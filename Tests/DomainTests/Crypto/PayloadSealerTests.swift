import Domain
import Foundations
import Logging
import TestSupport
import Testing

struct PayloadSealerTests {
    private let alice = UserName("alice")!
    private let logger = Logger(label: "PayloadSealerTests") { _ in SwiftLogNoOpLogHandler() }

    @Test func `A file that is missing or malformed is refused with its path and line`() throws {
        try withTemporaryPath { path in
            let missing = #expect(throws: FileError.self) { try PayloadSealer(path: path, logger: logger) }
            #expect(missing?.code == .missing)
            try write("# keys\nk1 c2VjcmV0LWtleQ==\n", to: path)
            let malformed = #expect(throws: FileError.self) { try PayloadSealer(path: path, logger: logger) }
            #expect(malformed.map { "\($0)".hasPrefix("\(path): line 2: ") } ?? false)
            #expect(malformed.map { !"\($0)".contains("c2VjcmV0") } ?? false)
        }
    }

    @Test func `What another service sealed with a key added a moment ago opens at once`() throws {
        try withTemporaryPath { path in
            let (old, new) = (PayloadKeyRing.newLine(id: "old"), PayloadKeyRing.newLine(id: "new"))
            try write(old, to: path)
            let sealer = try PayloadSealer(path: path, logger: logger)
            let id = NotificationID()
            #expect(try sealer.seal([1], id: id, recipient: alice).keyID == "old")
            try write("\(new)\n\(old)", to: path)
            let sealed = try PayloadKeyRing(new).seal([2], id: id, recipient: alice)
            #expect(try sealer.open(sealed, id: id, recipient: alice) == [2])
            #expect(try sealer.seal([1], id: id, recipient: alice).keyID == "new")
        }
    }

    @Test func `A key that is nowhere stays unknown`() throws {
        try withTemporaryPath { path in
            try write(PayloadKeyRing.newLine(id: "k1"), to: path)
            let sealer = try PayloadSealer(path: path, logger: logger)
            let id = NotificationID()
            let sealed = try PayloadKeyRing(PayloadKeyRing.newLine(id: "k2")).seal([2], id: id, recipient: alice)
            let error = #expect(throws: PayloadError.self) { try sealer.open(sealed, id: id, recipient: alice) }
            #expect(error?.code == .unknownKey)
        }
    }
}
