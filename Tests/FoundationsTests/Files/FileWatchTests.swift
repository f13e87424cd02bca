import Foundation
import Foundations
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files that a service watches. A FIFO without a writer stands for a file system that does not answer: opening it for
/// reading blocks.
@Suite(.timeLimit(.minutes(5))) struct FileWatchTests {
    private struct NoNumber: Error {}

    private static func file(
        _ path: String, passed: @escaping @Sendable () -> Duration = { .zero },
        parsing: @escaping @Sendable () -> Void = {}
    ) throws -> ReloadingFile<Int> {
        let file = try ReloadingFile(path: path, whileUnusable: .denies, now: { .now + passed() }) { text in
            parsing()
            guard let number = Int(text) else { throw NoNumber() }
            return number
        }
        file.watch()
        return file
    }

    private static func replace(_ path: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }

    /// - Returns: another name of the FIFO, which it keeps when the file is back.
    private static func replaceByFIFO(_ path: String) throws -> String {
        let (name, second) = (path + ".fifo", path + ".link")
        #expect(mkfifo(name, 0o600) == 0)
        #expect(link(name, second) == 0)
        #expect(rename(second, path) == 0)
        return name
    }

    /// Lets a reader of the FIFO go on, so that the test leaves no thread behind.
    private static func release(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_NONBLOCK)
        if descriptor >= 0 { close(descriptor) }
    }

    private static func withPath(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    /// Waits for a condition; the suite's time limit ends what never comes.
    private static func wait(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func `A change has an effect though nobody asks`() async throws {
        // With the time that reading takes, a change has an effect within a second.
        #expect(FileWatch.interval <= .milliseconds(500))
        try await Self.withPath { path in
            try Self.replace(path, "1")
            let file = try Self.file(path)
            for number in 2...4 {
                try Self.replace(path, "\(number)")
                try await Self.wait { file.usable == number }
            }
            try FileManager.default.removeItem(atPath: path)
            try await Self.wait { file.usable == nil }
            #expect(file.changes == 3 && file.reportedProblem?.code == .missing)
        }
    }

    @Test func `Whoever checks has the newest version`() async throws {
        try await Self.withPath { path in
            try Self.replace(path, "0")
            let file = try Self.file(path)
            for number in 1...20 {
                try Self.replace(path, "\(number)")
                await file.check()
                #expect(file.current == number)
            }
        }
    }

    /// Such as that of 100,000 lines.
    @Test func `A slow reading delays nobody`() async throws {
        try await Self.withPath { path in
            try Self.replace(path, "1")
            let isReading = Mutex(false)
            let isSlow = Mutex(false)
            let file = try Self.file(
                path,
                parsing: {
                    isReading.withLock { $0 = isSlow.withLock { $0 } }
                    while isSlow.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.005) }
                    isReading.withLock { $0 = false }
                })
            isSlow.withLock { $0 = true }
            try Self.replace(path, "2")
            try await Self.wait { isReading.withLock { $0 } }
            for _ in 0..<1000 { #expect(file.current == 1 && file.usable == 1 && file.refreshed() == 1) }
            await file.check()
            #expect(file.reportedProblem == nil && isReading.withLock { $0 })
            isSlow.withLock { $0 = false }
            try await Self.wait { file.current == 2 }
        }
    }

    @Test func `A file system that does not answer delays nobody`() async throws {
        try await Self.withPath { path in
            try Self.replace(path, "1")
            let passed = Mutex(Duration.zero)
            let file = try Self.file(path, passed: { passed.withLock { $0 } })
            let fifo = try Self.replaceByFIFO(path)
            defer { try? FileManager.default.removeItem(atPath: fifo) }
            // By now a look hangs.
            try await Task.sleep(for: FileWatch.interval * 2)
            for _ in 0..<1000 { #expect(file.usable == 1 && file.refreshedUsable() == 1) }
            // All who want the newest version together wait for a second at most. If each waited, this took too long.
            await withTaskGroup { group in
                for _ in 0..<200 { group.addTask { await file.check() } }
            }
            for _ in 0..<500 { await file.check() }
            // Credentials that may have been withdrawn are refused after a minute, and operators see why.
            passed.withLock { $0 = .seconds(61) }
            #expect(file.usable == nil && file.current == 1)
            #expect(file.reportedProblem?.message.contains("does not answer") == true)
            // The file is back. It comes first: a look that follows the hanging one must not open the FIFO again.
            try Self.replace(path, "2")
            try await Self.wait {
                Self.release(fifo)
                return file.usable == 2
            }
            #expect(file.reportedProblem == nil)
        }
    }

    @Test func `A reload says why the file cannot be used`() async throws {
        try await Self.withPath { path in
            try Self.replace(path, "1")
            let file = try Self.file(path)
            let source = file.source("AUTH_USERS_FILE")
            try Self.replace(path, "2")
            try await source.reload()
            #expect(file.current == 2)
            try Self.replace(path, "x")
            await #expect(throws: FileError.self) { try await source.reload() }
            #expect(file.current == 2)
            try Self.replace(path, "3")
            try await source.reload()
            #expect(file.current == 3)
        }
    }

    @Test func `Nobody looks at a file that is released`() async throws {
        try await Self.withPath { path in
            try Self.replace(path, "1")
            let readings = Mutex(0)
            var file: ReloadingFile<Int>? = try Self.file(path, parsing: { readings.withLock { $0 += 1 } })
            #expect(file?.current == 1)
            file = nil
            try Self.replace(path, "2")
            try await Task.sleep(for: FileWatch.interval * 3)
            #expect(readings.withLock { $0 } == 1)
        }
    }
}
