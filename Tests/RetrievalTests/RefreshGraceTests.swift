import Authentication
import Domain
import Foundation
import Foundations
import Logging
import ServiceRuntime
import Storage
import TestSupport
import Testing

@Suite("Refresh tokens of several processes on one database")
struct RefreshGraceTests {
    private static let stores: [StoreKind] = [.sqlite, .postgres]
    private static let alice = UserName("alice")!

    /// Two processes: each has its own objects, and the database and the files in common.
    private func withProcesses(
        _ kind: StoreKind, _ body: @escaping @Sendable ([RefreshTokens]) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-grace-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try TokenSigningKey.make(at: folder.appending(path: "key.pem").path)
        let hash = try PasswordHash.make(password: "correct horse")
        try Data("alice \(hash)\n".utf8).write(to: folder.appending(path: "users"))
        if kind == .postgres {
            try await withPostgresDatabase { try await Self.run($0, folder, body) }
        } else {
            try await Self.run("sqlite:\(folder.path)/s.sqlite", folder, body)
        }
    }

    private static func run(
        _ url: String, _ folder: URL, _ body: @escaping @Sendable ([RefreshTokens]) async throws -> Void
    ) async throws {
        let configuration = UserAuthenticationConfiguration(
            usersFile: folder.appending(path: "users").path, signingKeyFile: folder.appending(path: "key.pem").path,
            refreshTTL: .seconds(600))
        var opened: [OpenedStore] = []
        for _ in 0..<2 { opened.append(try await openStore(StorageConfiguration(url: url), logger: .silent)) }
        let stores = opened
        let tokens = try stores.map { opened in
            try #require(
                RefreshTokens(
                    configuration: configuration, issuer: try TokenIssuer(configuration: configuration),
                    store: opened.store, logger: .silent))
        }
        try await withRunning(stores[0].service, stores[1].service) {
            try await expectEventually {
                for store in stores where await store.readiness() != nil { return false }
                return true
            }
            try await body(tokens)
        }
    }

    @Test(arguments: stores) func `Parallel refreshes get the same successor`(_ kind: StoreKind) async throws {
        try await withProcesses(kind) { processes in
            var token = try await processes[0].begin(for: Self.alice).refresh
            for _ in 0..<5 {
                let used = token
                let successors = try await withThrowingTaskGroup(of: String.self) { group in
                    for number in 0..<20 {
                        group.addTask { try await processes[number % 2].refresh(used).refresh }
                    }
                    return try await group.reduce(into: Set<String>()) { $0.insert($1) }
                }
                #expect(successors.count == 1)
                token = try #require(successors.first)
            }
        }
    }

    @Test(arguments: stores) func `The grace ends with the use of the successor or after a minute`(_ kind: StoreKind)
        async throws
    {
        try await withProcesses(kind) { processes in
            for (isUsed, seconds) in [(true, 1), (false, 60), (false, 61)] {
                let now = Timestamp.now
                let first = try await processes[0].begin(for: Self.alice, now: now).refresh
                let second = try await processes[0].refresh(first, now: now).refresh
                #expect(try await processes[1].refresh(first, now: now + .seconds(59)).refresh == second)
                if isUsed { _ = try await processes[0].refresh(second, now: now) }
                for token in [first, second] {
                    await #expect(throws: AuthenticationError.self) {
                        try await processes[1].refresh(token, now: now + .seconds(seconds))
                    }
                }
            }
        }
    }
}
