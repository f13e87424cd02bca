import Foundation
import StackKit
import TestSupport
import Testing

/// `scripts/client-release.sh` on a small repository of its own.
@Suite(.timeLimit(.minutes(5))) struct ClientReleaseTests {
    @Test func `The split has the folder as its root and only its history`() async throws {
        try await withRepository { repository in
            try await repository.commit("Server", ["server.txt": "1"])
            try await repository.commit("Client", ["Clients/Swift/Package.swift": "1", "server.txt": "2"])
            try await repository.commit("Server again", ["server.txt": "3"])
            try await repository.commit("Client again", ["Clients/Swift/Sources/Client.swift": "2"])
            try await repository.release("1.2.3")
            #expect(try await repository.split("log", "--format=%s", "main") == "Client again\nClient")
            #expect(try await repository.split("rev-parse", "1.2.3") == repository.split("rev-parse", "main"))
            #expect(
                try await repository.split("ls-tree", "-r", "--name-only", "1.2.3")
                    == "Package.swift\nSources/Client.swift")
            // Author and date are those of the original.
            let original = try await repository.git("log", "-1", "--format=%an %ae %aI %cI")
            #expect(try await repository.split("log", "-1", "--format=%an %ae %aI %cI") == original)
        }
    }

    /// An app that has the first release fetches the second one as a continuation.
    @Test func `A later release continues the first`() async throws {
        try await withRepository { repository in
            try await repository.commit("Client", ["Clients/Swift/Package.swift": "1"])
            try await repository.release("1.0.0")
            _ = try await repository.git("checkout", "--quiet", "-b", "side")
            try await repository.commit("Side", ["Clients/Swift/Side.swift": "1"])
            _ = try await repository.git("checkout", "--quiet", "-")
            try await repository.commit("Main", ["Clients/Swift/Main.swift": "1"])
            _ = try await repository.git("merge", "--quiet", "--no-ff", "-m", "Merge", "side")
            try await repository.release("1.1.0")
            _ = try await repository.split("merge-base", "--is-ancestor", "1.0.0", "1.1.0")
            #expect(try await repository.split("rev-list", "--count", "1.1.0") == "4")
            // Again, with nothing new: the same commits.
            try await repository.release("1.1.0")
        }
    }

    @Test func `A version is released once`() async throws {
        try await withRepository { repository in
            try await repository.commit("Client", ["Clients/Swift/Package.swift": "1"])
            try await repository.release("1.0.0")
            try await repository.commit("Client again", ["Clients/Swift/Package.swift": "2"])
            await #expect(throws: ProgramFailed.self) { try await repository.release("1.0.0") }
            await #expect(throws: ProgramFailed.self) { try await repository.release("latest") }
        }
    }

    @Test func `Uncommitted changes are refused`() async throws {
        try await withRepository { repository in
            try await repository.commit("Client", ["Clients/Swift/Package.swift": "1"])
            try repository.write(["Clients/Swift/Package.swift": "2"])
            let error = await #expect(throws: ProgramFailed.self) { try await repository.release("1.0.0") }
            #expect(error?.output.contains("not committed") == true)
        }
    }

    private func withRepository(_ body: (SplitRepository) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "split-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let scripts = folder.appending(path: "scripts")
        try FileManager.default.createDirectory(at: scripts, withIntermediateDirectories: true)
        for name in ["client-release.sh", "common.sh"] {
            try FileManager.default.copyItem(
                at: TestEnvironment.packageRoot.appending(path: "scripts/\(name)"), to: scripts.appending(path: name))
        }
        let repository = SplitRepository(folder: folder)
        _ = try await repository.git("init", "--quiet")
        _ = try await repository.git("config", "user.name", "Someone")
        _ = try await repository.git("config", "user.email", "someone@example.com")
        try await body(repository)
    }
}

/// A repository with a copy of the script, and the one that the script makes.
private struct SplitRepository {
    let folder: URL

    func git(_ arguments: String...) async throws -> String { try await git(in: folder, arguments) }

    func split(_ arguments: String...) async throws -> String {
        try await git(in: folder.appending(path: "split.git"), arguments)
    }

    func release(_ version: String) async throws {
        try await run(
            "/bin/bash",
            [
                folder.appending(path: "scripts/client-release.sh").path, version,
                folder.appending(path: "split.git").path,
            ])
    }

    func commit(_ subject: String, _ files: [String: String]) async throws {
        try write(files)
        for path in files.keys { _ = try await git("add", path) }
        _ = try await git("commit", "--quiet", "-m", subject)
    }

    func write(_ files: [String: String]) throws {
        for (path, text) in files {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }

    private func git(in folder: URL, _ arguments: [String]) async throws -> String {
        try await run("git", ["-C", folder.path] + arguments).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
