import Domain
import Foundation
import Foundations
import Logging
import TestSupport
import Testing

@testable import Authentication

private let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

struct APIKeyTests {
    @Test func `A made key is taken at once and stored as its hash only`() async throws {
        try await withTemporaryFolder { folder in
            let file = APIKeysFile(path: folder + "/keys")
            let first = try file.add("billing")
            let ring = try APIKeyRing(path: file.path, logger: quiet)
            let second = try file.add("reports-2.x_")
            #expect(first.hasPrefix("spk_") && first.utf8.count == 47 && first != second)
            #expect(try ring.sender(authorization: "Bearer \(first)") == "billing")
            #expect(try ring.sender(authorization: "bearer  \(second)") == "reports-2.x_")
            #expect(try file.list() == ["billing", "reports-2.x_"])
            #expect(try mode(of: file.path) == 0o600)
            #expect(try !String(contentsOfFile: file.path, encoding: .utf8).contains(first.dropFirst(4)))
        }
    }

    @Test func `A removed key is refused after a moment`() async throws {
        try await withTemporaryFolder { folder in
            let clock = TestClock()
            let file = APIKeysFile(path: folder + "/keys")
            let key = try file.add("billing")
            let ring = try APIKeyRing(path: file.path, logger: quiet, now: { clock.instant })
            #expect(try ring.sender(authorization: "Bearer \(key)") == "billing")
            try file.remove("billing")
            clock.advance(by: .seconds(2))
            let error = #expect(throws: AuthenticationError.self) { try ring.sender(authorization: "Bearer \(key)") }
            #expect(error?.code == .invalid)
        }
    }

    /// Finding 3: before, a file that was gone or could not be used left every key in force.
    @Test(arguments: [true, false])
    func `A file that cannot be used refuses every key`(isGone: Bool) async throws {
        try await withTemporaryFolder { folder in
            let clock = TestClock()
            let file = APIKeysFile(path: folder + "/keys")
            let key = try file.add("billing")
            let ring = try APIKeyRing(path: file.path, logger: quiet, now: { clock.instant })
            if isGone {
                try FileManager.default.removeItem(atPath: file.path)
            } else {
                try write("garbage", to: file.path)
                clock.advance(by: .seconds(59))
                #expect(try ring.sender(authorization: "Bearer \(key)") == "billing")
            }
            clock.advance(by: .seconds(1))
            let error = #expect(throws: AuthenticationError.self) { try ring.sender(authorization: "Bearer \(key)") }
            #expect(error?.code == .unavailable)
            #expect(ring.source.problem() != nil)
            try write("billing \(APIKey.hash(key))", to: file.path)
            clock.advance(by: .seconds(1))
            #expect(try ring.sender(authorization: "Bearer \(key)") == "billing")
            #expect(ring.source.problem() == nil)
        }
    }

    @Test(
        arguments: [
            (nil, .missing), ("", .missing), ("Basic abc", .missing), ("Bearer", .malformed),
            ("Bearer a b", .malformed),
            ("Bearer spk_wrong", .invalid), ("Bearer spk_é", .malformed),
            ("Bearer " + String(repeating: "a", count: 1025), .malformed),
        ] as [(String?, AuthenticationError.Code)])
    func `A header without a known key is refused`(header: String?, code: AuthenticationError.Code) async throws {
        try await withTemporaryFolder { folder in
            let file = APIKeysFile(path: folder + "/keys")
            _ = try file.add("billing")
            let ring = try APIKeyRing(path: file.path, logger: quiet)
            let error = #expect(throws: AuthenticationError.self) { try ring.sender(authorization: header) }
            #expect(error?.code == code)
            #expect(error?.challenges.count == 1)
        }
    }

    private static let hash = String(repeating: "ab", count: 32)

    @Test(arguments: [
        "billing", "billing abc", "billing \(hash) more", "a/b \(hash)", "a \(hash)\nb \(hash)", "\u{e9} \(hash)",
        "billing \(hash)0", "billing \(String(repeating: "g", count: 64))",
    ])
    func `Malformed lines are named`(line: String) async throws {
        try await withTemporaryFolder { folder in
            try write("# keys\n\n" + line, to: folder + "/keys")
            let number = line.contains("\n") ? 4 : 3
            let error = #expect(throws: (any Error).self) { try APIKeyRing(path: folder + "/keys", logger: quiet) }
            #expect("\(try #require(error))".contains("line \(number)"))
        }
    }

    @Test func `The file of the contract is read`() async throws {
        try await withTemporaryFolder { folder in
            let hash = "2BB80D537B1DA3E38BD30361AA855686BDE0EACD7162FEF6A25FE97BF527A25B"
            try write("\r\n# comment\n\t billing\t \(hash) \r\n", to: folder + "/keys")
            let ring = try APIKeyRing(path: folder + "/keys", logger: quiet)
            #expect(try ring.sender(authorization: "Bearer secret") == "billing")
            #expect(throws: (any Error).self) { try APIKeyRing(path: folder + "/none", logger: quiet) }
        }
    }

    @Test(arguments: ["", "a b", "a/b", "é", String(repeating: "a", count: 65)])
    func `A name that no sender can have is refused`(name: String) async throws {
        try await withTemporaryFolder { folder in
            let error = #expect(throws: SetupError.self) {
                try APIKeysFile(path: folder + "/k").add(name)
            }
            #expect(error?.code == .invalidName)
        }
    }

    @Test func `Edits keep comments and refuse repeats`() async throws {
        try await withTemporaryFolder { folder in
            let file = APIKeysFile(path: folder + "/keys")
            try write("# mine\n\n", to: file.path)
            _ = try file.add("a")
            #expect(throws: SetupError.self) { try file.add("a") }
            #expect(throws: SetupError.self) { try file.remove("b") }
            try file.remove("a")
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "# mine\n\n")
        }
    }
}

struct UsersFileTests {
    @Test func `Users are added, listed, replaced and removed`() async throws {
        try await withTemporaryFolder { folder in
            let file = UsersFile(path: folder + "/new/users")
            let names = try ["alice", "bob smith", "50%", "#x", "\u{e9}", "e\u{301}"].map {
                try #require(UserName($0))
            }
            for name in names { try file.add(name, password: "secret") }
            #expect(try file.list() == names)
            #expect(try mode(of: file.path) == 0o600)
            #expect(try mode(of: folder + "/new") == 0o700)
            let error = #expect(throws: SetupError.self) { try file.add(names[0], password: "x") }
            #expect(error?.code == .alreadyExists)
            try file.add(names[0], password: "other", replacing: true)
            let lines = try CredentialLines(try #require(try PrivateFile.read(file.path)))
            #expect(try UsersFile.users(lines)[names[0]]?.matches(Array("other".utf8)) == true)
            try file.remove(names[5])
            #expect(throws: SetupError.self) { try file.remove(names[5]) }
            #expect(try Set(file.list()) == Set(names[..<5]))
        }
    }

    /// Whatever a name contains, a user who was added can log in.
    @Test(arguments: [
        " bob", "bob ", "\u{FEFF}bob", "bo\u{FEFF}b", "#", "%20", "a\u{A0}b", "\u{2028}", "\u{3000}x", "\u{200B}", "=",
        "$x",
        "\u{10FFFF}", "\"'\\", String(repeating: "x", count: 1024), String(repeating: "😀", count: 256),
    ])
    func `Who is added can log in`(name: String) async throws {
        let user = try #require(UserName(name))
        try await withAuthenticator(
            jwks: nil,
            configure: { configuration, folder in
                let hash = try ScryptHash(password: [0x78], parameters: .init(logCost: 4, blockSize: 1)).text
                try write("\(UsersFile.encode(user)) \(hash)\n", to: folder + "/users")
                configuration.usersFile = folder + "/users"
            }
        ) { bench in
            #expect(try UsersFile(path: bench.folder + "/users").list() == [user])
            let found = try await bench.authenticator.authenticate(authorization: basic(name, "x"))
            #expect(found == user)
            let first = try #require(try PrivateFile.read(bench.folder + "/users")?.unicodeScalars.first)
            #expect(first != "\u{FEFF}" && first != "#")
        }
    }

    /// Case 30: Basic credentials end the name at the first colon.
    @Test(arguments: ["tenant:carol", ":", "carol:", ":carol", "a:b:c", "urn:x:é"])
    func `Who can never log in is not added`(name: String) async throws {
        let user = try #require(UserName(name))
        try await withTemporaryFolder { folder in
            let file = UsersFile(path: folder + "/users")
            let error = #expect(throws: SetupError.self) { try file.add(user, password: "long enough") }
            #expect(error?.code == .invalidName && error.map { !"\($0)".contains("carol") } == true)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            // Another program may have added one: it is no reason to refuse the others.
            let hash = try ScryptHash(password: [0x78], parameters: .init(logCost: 4, blockSize: 1)).text
            try write("\(name) \(hash)\nbob \(hash)\n", to: file.path)
            #expect(try UserPasswords(try #require(try PrivateFile.read(file.path))).colonCount == 1)
            try file.remove(user)
            #expect(try file.list().map(\.text) == ["bob"])
        }
    }

    /// Case 29: user names stay bytes, and look alike.
    @Test(arguments: [
        ("caf\u{E9}", "cafe\u{301}"), ("alice", "Alice"), ("alice", "alice "), ("alice", " alice"),
        ("alice", "al\u{200B}ice"),
        ("alice", "\u{430}lic\u{435}"), ("alice", "\u{FF41}lice"), ("bob smith", "bob\u{A0}\u{A0}smith"),
        ("alice", "alice\u{202E}"), ("alice", "alice\u{FEFF}"), ("o1", "0l"), ("\u{3B1}lice", "alice"), ("ΑΒΓ", "abγ"),
        ("Å", "\u{212B}"), ("ﬁn", "fin"), ("istanbul", "ıstanbul"), ("a\u{AD}b", "ab"), ("BOB", "воb"),
        ("alice", "aIice"), ("alice", "a1ice"), ("alice", "al|ce"), ("ALICE", "alice"), ("all", "ali"),
    ])
    func `Users whose names look alike are found`(known: String, added: String) async throws {
        try await withTemporaryFolder { folder in
            let file = UsersFile(path: folder + "/users")
            let (known, added) = (try #require(UserName(known)), try #require(UserName(added)))
            #expect(try file.users(like: added).isEmpty)
            let hash = try ScryptHash(password: [0x78], parameters: .init(logCost: 4, blockSize: 1)).text
            try write("zoe \(hash)\n\(UsersFile.encode(known)) \(hash)\n", to: file.path)
            #expect(try file.users(like: added) == [known])
            #expect(try file.users(like: known).isEmpty)
        }
    }

    @Test(arguments: [
        ("alice", "alicia"), ("jose", "jos\u{E9}"), ("ali", "alo"), ("bobsmith", "bob smith"), ("a", "b"),
        ("user1", "user2"),
        ("\u{E4}", "a"), ("x", "xx"),
    ])
    func `Other names do not look alike`(known: String, added: String) throws {
        #expect(NameLook(try #require(UserName(known))) != NameLook(try #require(UserName(added))))
    }

    @Test(arguments: ["%", "%2", "%zz", "a%00", "%ff", "%+1"])
    func `The line of a name that cannot be read is named`(name: String) throws {
        let hash = "$scrypt$ln=4,r=1,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        let error = #expect(throws: SetupError.self) { try UserPasswords("# x\n\(name) \(hash)") }
        #expect(error?.line == 2)
    }

    @Test(arguments: ["alice x", "alice", "alice $scrypt$ln=99,r=1,p=1$c2FsdHNhbHQ$AAAA"])
    func `The line of a hash that cannot be read is named`(line: String) throws {
        let error = #expect(throws: SetupError.self) { try UserPasswords("\n\(line)\n") }
        #expect(error?.line == 2)
    }
}

struct PrivateFileTests {
    @Test func `A failed edit changes nothing`() async throws {
        try await withTemporaryFolder { folder in
            struct Stop: Error {}
            try write("old", to: folder + "/f")
            #expect(throws: Stop.self) { try PrivateFile.edit(folder + "/f") { _ -> (String, Void) in throw Stop() } }
            #expect(try PrivateFile.read(folder + "/f") == "old")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["f"])
        }
    }

    @Test func `A link stays one and an open mode is closed`() async throws {
        try await withTemporaryFolder { folder in
            try write("old", to: folder + "/f")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/f")
            try FileManager.default.createSymbolicLink(atPath: folder + "/l", withDestinationPath: folder + "/f")
            try PrivateFile.edit(folder + "/l") { text in (text ?? "") + "new" == "oldnew" ? ("new", ()) : ("bad", ())
            }
            #expect(try PrivateFile.read(folder + "/f") == "new")
            #expect(try mode(of: folder + "/f") == 0o600)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/l") == folder + "/f")
        }
    }

    @Test func `Concurrent edits lose nothing`() async throws {
        try await withTemporaryFolder { folder in
            let file = APIKeysFile(path: folder + "/keys")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 { group.addTask { _ = try file.add("sender-\(number)") } }
                try await group.waitForAll()
            }
            #expect(try file.list().count == 30)
        }
    }

    @Test func `Folders that cannot be written are named`() {
        let error = #expect(throws: SetupError.self) {
            try PrivateFile.edit("/proc/none/file") { _ in ("", ()) }
        }
        #expect(error?.code == .unwritable)
    }
}
