import SecurePushCore
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

@Suite struct PasswordTests {
    @Test(arguments: [
        ("alice", "secret"), ("alice", "with:colons::"), ("bob smith", "x"), ("häns%20#", "pässwörd 🔑"),
        ("a", ":"),
        ("#comment", "x"), ("e\u{301}", "x"),
    ])
    func good(user: String, password: String) async throws {
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
    func wrong(user: String, password: String) async throws {
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
    func malformed(header: String) async throws {
        try await withUsers([("alice", "secret")]) { bench in
            #expect(await bench.refusal(header)?.code == .malformed)
            #expect(await bench.refusal(header)?.challenges.count == 2)
        }
    }

    @Test func theSchemeIsMatchedWithoutCase() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            try await bench.expectUser("bASIC  YWxpY2U6c2VjcmV0 ", "alice")
        }
    }

    @Test func aChangedFileIsReadAgain() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            try await bench.expectUser(basic("alice", "secret"), "alice")
            try write("alice \(try quickHash("other"))\nbob \(try quickHash("b"))\n", to: bench.folder + "/users")
            try await bench.expectUser(basic("bob", "b"), "bob")
            bench.clock.advance(by: .seconds(2))
            #expect(await bench.refusal(basic("alice", "secret"))?.code == .invalid)
            try await bench.expectUser(basic("alice", "other"), "alice")
        }
    }

    @Test func onlyAPasswordWillDo() async throws {
        let key = TestKey.es256()
        try await withAuthenticator(jwks: jwks(key.jwk())) { bench in
            let header = "Bearer \(try key.token(claims: claims()))"
            try await bench.expectUser(header, "alice")
            await #expect(throws: AuthenticationError.self) {
                try await bench.authenticator.authenticateByPassword(authorization: header)
            }
        }
    }

    /// 50 fit into the queue and are served; of 200, what does not fit is refused at once.
    @Test func manyAtOnceStayBounded() async throws {
        try await withAuthenticator(
            jwks: nil,
            configure: { configuration, folder in
                let hash = try ScryptHash(password: Array("secret".utf8), parameters: .init(logCost: 12))
                try write("alice \(hash.text)\n", to: folder + "/users")
                configuration.usersFile = folder + "/users"
            }
        ) { bench in
            #expect(try await outcomes(50, bench) == ["invalid": 50])
            let outcomes = try await outcomes(200, bench)
            #expect(outcomes["unavailable", default: 0] > 0)
            #expect(outcomes["invalid", default: 0] >= PasswordVerifier.queueLimit)
            try await bench.expectUser(basic("alice", "secret"), "alice")
        }
    }

    /// How many of so many wrong passwords at once end in which way.
    private func outcomes(_ count: Int, _ bench: AuthenticatorBench) async throws -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for number in 0..<count {
                group.addTask {
                    await bench.refusal(basic("alice", "wrong \(number)"))?.code.description ?? "accepted"
                }
            }
            var outcomes: [String: Int] = [:]
            for await outcome in group { outcomes[outcome, default: 0] += 1 }
            return outcomes
        }
    }

    @Test func rememberedForAWhileOnly() async throws {
        try await withUsers([("alice", "secret")]) { bench in
            let key = basic("alice", "secret")
            try await bench.expectUser(key, "alice")
            bench.clock.advance(by: PasswordVerifier.lifetime)
            try await bench.expectUser(key, "alice")
        }
    }
}
