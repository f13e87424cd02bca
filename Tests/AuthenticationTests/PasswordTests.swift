import Domain
import Foundation
import Foundations
import TestSupport
import Testing

@testable import Authentication

/// A hash that is quick to check, for tests.
private func quickHash(_ password: String) throws -> String {
    try ScryptHash(password: Array(password.utf8), parameters: .init(logCost: 4, blockSize: 1)).text
}

private func withUsers(
    _ users: [(String, String)], _ body: (AuthenticatorBench) async throws -> Void
) async throws {
    try await withAuthenticator(
        jwks: nil,
        configure: { configuration, folder in
            let lines = try users.map { name, password in
                "\(UsersFile.encode(try #require(UserName(name)))) \(try quickHash(password))\n"
            }
            try write("# users\n\n" + lines.joined(), to: folder + "/users")
            configuration.usersFile = folder + "/users"
        }, body)
}

struct PasswordTests {
    @Test(arguments: [
        ("alice", "secret"), ("alice", "with:colons::"), ("bob smith", "x"), ("häns%20#", "pässwörd 🔑"),
        ("a", ":"),
        ("#comment", "x"), ("e\u{301}", "x"),
    ])
    func `A good password names its user`(user: String, password: String) async throws {
        try await withUsers([("other", "other"), (user, password)]) { bench in
            for _ in 0..<2 {
                let found = try await bench.user(basic(user, password))
                #expect(Array(found.utf8) == Array(user.utf8))
            }
        }
    }

    @Test(arguments: [
        ("alice", "Secret"), ("alice", ""), ("alice", "secret "), ("alice", "secret:"), ("alice:", "secret"),
        ("Alice", "secret"), ("", "secret"), ("", ""), ("bob", "secret"), ("\u{e9}", "x"),
    ])
    func `A wrong name or password is refused`(user: String, password: String) async throws {
        // Names are compared byte for byte, unlike passwords.
        try await withUsers([("alice", "secret"), ("e\u{301}", "x")]) { bench in
            try await bench.expectUser(basic("alice", "secret"), "alice")
            let error = await bench.refusal(basic(user, password))
            #expect(error?.code == .invalid)
            #expect(
                error?.challenges == [#"Bearer realm="securepush""#, #"Basic realm="securepush", charset="UTF-8""#])
            #expect(password.isEmpty || error.map { !"\($0)".contains(password + ":") } == true)
        }
    }

    @Test(arguments: [
        "Basic", "Basic ", "Basic !", "Basic YWxpY2U=", "Basic YWxpY2U6c2VjcmV0=", "Basic YWxpY2U6c2VjcmV0\u{e9}",
        "Basic alice:secret", "Basic YWxpY2U6c2VjcmV0 YQ==", "Basic YWxpY2U6/w==", "Basic null", "Basic YTr=",
    ])
    func `Malformed credentials are refused`(header: String) async throws {
        try await withUsers([("alice", "secret")]) { bench in
            #expect(await bench.refusal(header)?.code == .malformed)
            #expect(await bench.refusal(header)?.challenges.count == 2)
        }
    }

    @Test func `The scheme is matched without case`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            try await bench.expectUser("bASIC  YWxpY2U6c2VjcmV0 ", "alice")
        }
    }

    @Test func `A changed file is read again`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            try await bench.expectUser(basic("alice", "secret"), "alice")
            try write("alice \(try quickHash("other"))\nbob \(try quickHash("b"))\n", to: bench.folder + "/users")
            try await bench.expectUser(basic("bob", "b"), "bob")
            bench.clock.advance(by: .seconds(2))
            #expect(await bench.refusal(basic("alice", "secret"))?.code == .invalid)
            try await bench.expectUser(basic("alice", "other"), "alice")
        }
    }

    @Test func `Only a password will do`() async throws {
        let key = TestKey.es256()
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            let header = "Bearer \(try key.token(claims: claims()))"
            try await bench.expectUser(header, "alice")
            await #expect(throws: AuthenticationError.self) {
                try await bench.authenticator.authenticateByPassword(authorization: header)
            }
        }
    }

    /// The flood of the security review, finding 6: 80 connections with wrong passwords, from bob's own address.
    /// Before, 26 of 26 log-ins of bob were refused, for 64 waiting passwords were all that the queue held.
    @Test(arguments: [true, false])
    func `A flood does not keep others out`(namesOneUser: Bool) async throws {
        let hash = try ScryptHash(password: Array("secret".utf8), parameters: .init(logCost: 12)).text
        try await withAuthenticator(
            jwks: nil,
            configure: { configuration, folder in
                try write("alice \(hash)\nbob \(hash)\n", to: folder + "/users")
                configuration.usersFile = folder + "/users"
            }
        ) { bench in
            let address = ClientAddress("192.0.2.1")
            let flood = Task { await bench.flood(namesOneUser: namesOneUser, from: address) }
            // While they wait: the first log-in of another user.
            try await bench.expectUser(basic("bob", "secret"), "bob", from: address)
            let outcomes = await flood.value
            #expect(outcomes.values.reduce(0, +) == 80)
            if namesOneUser {
                let checked = outcomes["invalid", default: 0]
                let most = PasswordThrottle.freeFailuresOfPair + PasswordVerifier.maxRunning
                #expect((1...most).contains(checked), "\(outcomes)")
                #expect(outcomes["throttled"] == 80 - checked, "\(outcomes)")
            } else {
                #expect(outcomes["invalid", default: 0] + outcomes["held", default: 0] == 80)
                #expect(outcomes["held", default: 0] >= 60, "\(outcomes)")
            }
            #expect(bench.lines.all.count { $0.contains("Many passwords were wrong or refused") } == 1)
            #expect(!bench.lines.all.contains { $0.contains("alice") })
        }
    }

    @Test func `A user who failed often waits and is told how long`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            let address = ClientAddress("192.0.2.1")
            for number in 0..<PasswordThrottle.freeFailuresOfPair {
                #expect(await bench.refusal(basic("alice", "\(number)"), from: address)?.code == .invalid)
            }
            // The right one neither, or the wait would tell which is right.
            let refusal = await bench.refusal(basic("alice", "secret"), from: address)
            #expect(refusal?.code == .throttled && refusal?.retryAfter == .seconds(1))
            #expect(refusal?.challenges == [])
            try await bench.expectUser(basic("alice", "secret"), "alice", from: ClientAddress("192.0.2.2"))
            // Accepted before: not asked again.
            try await bench.expectUser(basic("alice", "secret"), "alice", from: address)
            bench.clock.advance(by: .seconds(1))
            #expect(await bench.refusal(basic("alice", "x"), from: address)?.code == .invalid)
            #expect(await bench.refusal(basic("alice", "y"), from: address)?.retryAfter == .seconds(2))
        }
    }

    /// A device that comes back sends many requests at once with the same credentials.
    @Test func `Equal credentials at once are checked once`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<200 { group.addTask { try await bench.user(basic("alice", "secret")) } }
                for try await user in group { #expect(user == "alice") }
            }
        }
    }

    /// House review, 26: who came while the only caller before was leaving got his cancellation.
    @Test func `Who joins a check that is cancelled is checked`() async throws {
        let hash = try ScryptHash(password: Array("secret".utf8), parameters: .init(logCost: 10)).text
        try await withAuthenticator(
            jwks: nil,
            configure: { configuration, folder in
                try write("alice \(hash)\n", to: folder + "/users")
                configuration.usersFile = folder + "/users"
            }
        ) { bench in
            for round in 0..<60 {
                // A wrong one each time, or else it is remembered; few enough of one client to be checked.
                let (header, client) = (basic("user\(round)", "wrong"), ClientAddress("192.0.2.\(round)"))
                let leaving = (0..<2).map { _ in Task { await bench.refusal(header, from: client)?.code } }
                for _ in 0..<(round % 20) { await Task.yield() }
                for task in leaving { task.cancel() }
                let joined = await bench.refusal(header, from: client)?.code
                #expect(joined == .invalid, "round \(round)")
                for task in leaving { _ = await task.value }
            }
            try await bench.expectUser(basic("alice", "secret"), "alice")
        }
    }

    /// The limits of one client are not those of another with the same credentials.
    @Test func `Clients do not share a refusal`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            let (throttled, other) = (ClientAddress("192.0.2.1"), ClientAddress("192.0.2.2"))
            for number in 0..<PasswordThrottle.freeFailuresOfPair {
                _ = await bench.refusal(basic("alice", "\(number)"), from: throttled)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { _ = await bench.refusal(basic("alice", "secret"), from: throttled) }
                    group.addTask { try await bench.expectUser(basic("alice", "secret"), "alice", from: other) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// RFC 7617, section 2.1: it does not matter how a device composes letters.
    @Test(arguments: [
        ("cafe\u{301}", "caf\u{E9}"), ("A\u{30A}ngstro\u{308}m", "\u{212B}ngstr\u{F6}m"),
        ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("o\u{323}\u{302}", "\u{1ED9}"), ("o\u{302}\u{323}", "\u{1ED9}"),
        ("\u{AC00}\u{11A8}", "\u{AC01}"),
    ])
    func `Every form of a password is the same`(decomposed: String, composed: String) async throws {
        let forms = [decomposed, composed]
        for added in forms {
            let hash = try PasswordHash.make(password: added)
            for given in forms {
                #expect(try PasswordHash.verify(given, hash), "\(added.unicodeScalars) \(given.unicodeScalars)")
                let users = try UserPasswords("alice \(hash)\n")
                #expect(users.matches(UserName("alice")!, Array(given.utf8)))
            }
            #expect(try !PasswordHash.verify(added + "x", hash))
        }
    }

    /// Hashes of earlier versions are those of the bytes as given.
    @Test(arguments: ["cafe\u{301}", "\u{212B}", "\u{1112}\u{1161}", "\u{958}"])
    func `Passwords that were hashed as given stay good`(password: String) async throws {
        try await withUsers([("alice", password)]) { bench in
            try await bench.expectUser(basic("alice", password), "alice")
        }
    }

    @Test func `A caller who goes away is not waited for`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            let task = Task { await bench.refusal(basic("alice", "wrong"))?.code }
            task.cancel()
            let code = await task.value
            #expect(code == .unavailable || code == .invalid)
            try await bench.expectUser(basic("alice", "secret"), "alice")
        }
    }

    /// Finding 26: the unknown user took the time of the first line, which was the cheap one.
    @Test func `Every name costs what the dearest does`() throws {
        let parameters: [ScryptHash.Parameters] = [
            .init(logCost: 4, blockSize: 1), .init(logCost: 7, blockSize: 8), .init(logCost: 10), .init(logCost: 9),
        ]
        let lines = try parameters.enumerated().map { index, parameters in
            "user\(index) \(try ScryptHash(password: Array("x".utf8), parameters: parameters).text)\n"
        }
        let users = try UserPasswords(lines.joined())
        let dearest = try #require(parameters.map(\.work).max())
        for own in parameters {
            let work = own.work + users.fillers(after: own).map(\.work).reduce(0, +)
            #expect(abs(work - dearest) <= dearest / 64, "\(own)")
        }
        #expect(users.fillers(after: .init(logCost: 10)).isEmpty)
        #expect(users.weakCount == 4)
        let name = try #require(UserName("user1"))
        #expect(users.matches(name, Array("x".utf8)) && !users.matches(name, Array("y".utf8)))
    }

    @Test func `Cheap hashes are logged`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            #expect(bench.lines.all.contains { $0.contains("cheaper to guess") && $0.contains("users=1") })
        }
    }

    @Test func `A file that is gone lets nobody in and a second later nobody is remembered`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            try await bench.expectUser(basic("alice", "secret"), "alice")
            try FileManager.default.removeItem(atPath: bench.folder + "/users")
            bench.clock.advance(by: .seconds(1))
            let refusal = await bench.refusal(basic("alice", "secret"))
            #expect(refusal?.code == .unavailable && refusal?.challenges == [])
            let source = try #require(bench.authenticator.sources.first { $0.key == "AUTH_USERS_FILE" })
            #expect(source.problem()?.hasSuffix("Access is denied.") == true)
        }
    }

    @Test func `A good password is remembered for a while only`() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            let key = basic("alice", "secret")
            try await bench.expectUser(key, "alice")
            bench.clock.advance(by: PasswordVerifier.lifetime)
            try await bench.expectUser(key, "alice")
        }
    }
}

extension AuthenticatorBench {
    /// Eighty log-ins at once with wrong passwords: how often each refusal was given.
    func flood(namesOneUser: Bool, from address: ClientAddress?) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for attacker in 0..<80 {
                group.addTask {
                    let user = namesOneUser ? "alice" : "user\(attacker)"
                    guard let error = await refusal(basic(user, "wrong \(attacker)"), from: address) else {
                        return "accepted"
                    }
                    return !namesOneUser && error.delay > .zero ? "held" : "\(error.code)"
                }
            }
            var outcomes: [String: Int] = [:]
            for await outcome in group { outcomes[outcome, default: 0] += 1 }
            return outcomes
        }
    }
}
