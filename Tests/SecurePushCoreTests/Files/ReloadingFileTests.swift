import Foundation
import SecurePushCore
import Synchronization
import Testing

@Suite("Files that are read again")
struct ReloadingFileTests {
    /// A clock that the test moves, and what was reported.
    private final class World: Sendable {
        let time = Mutex(ContinuousClock.now)
        let problems = Mutex<[FileError]>([])

        func pass(_ duration: Duration) { time.withLock { $0 += duration } }

        func file(_ path: String) throws -> ReloadingFile<Int> {
            try ReloadingFile(
                path: path, now: { self.time.withLock { $0 } },
                report: { problem in self.problems.withLock { $0.append(problem) } },
                parse: { text in
                    guard let number = Int(text) else { throw NoNumber() }
                    return number
                })
        }
    }

    private struct NoNumber: Error, CustomStringConvertible {
        var description: String { "This is no number." }
    }

    @Test("A changed file is read again, a second later at the latest")
    func change() throws {
        try withTemporaryPath { path in
            let world = World()
            try write("1", to: path)
            let file = try world.file(path)
            try write("2", to: path)
            #expect(file.current == 1)
            world.pass(.milliseconds(999))
            #expect(file.current == 1)
            world.pass(.milliseconds(1))
            #expect(file.current == 2)
            try write("3", to: path)
            #expect(file.current == 2)
            #expect(file.refreshed() == 3)
            #expect(world.problems.withLock { $0.isEmpty })
        }
    }

    @Test("Bad content keeps the value, and is reported once for each change")
    func badContent() throws {
        try withTemporaryPath { path in
            let world = World()
            try write("1", to: path)
            let file = try world.file(path)
            for (text, reports) in [("x", 1), ("yy", 2)] {
                try write(text, to: path)
                for _ in 0..<5 {
                    world.pass(.seconds(1))
                    #expect(file.current == 1)
                }
                #expect(world.problems.withLock { $0.count } == reports)
            }
            let problem = try #require(world.problems.withLock { $0.last })
            #expect(problem.code == .malformed && problem.path == path && problem.message == "This is no number.")
            try write("5", to: path)
            world.pass(.seconds(1))
            #expect(file.current == 5)
        }
    }

    @Test("A file that goes away keeps the value, is reported once, and is read when it is back")
    func gone() throws {
        try withTemporaryPath { path in
            let world = World()
            try write("1", to: path)
            let file = try world.file(path)
            try FileManager.default.removeItem(atPath: path)
            for _ in 0..<3 {
                world.pass(.seconds(1))
                #expect(file.current == 1)
            }
            #expect(world.problems.withLock { $0.map(\.code) } == [.missing])
            try write("2", to: path)
            world.pass(.seconds(1))
            #expect(file.current == 2)
        }
    }

    @Test("The first reading must succeed")
    func first() throws {
        try withTemporaryPath { path in
            let world = World()
            #expect(#expect(throws: FileError.self) { try world.file(path) }?.code == .missing)
            #expect(#expect(throws: FileError.self) { try world.file(path + "/x/y") }?.code == .missing)
            try write("x", to: path)
            let error = #expect(throws: FileError.self) { try world.file(path) }
            #expect(error?.code == .malformed)
            #expect(error.map { "\($0)" } == "\(path): This is no number.")
            #expect(#expect(throws: FileError.self) { try world.file(path + "/x") }?.code == .missing)
            try Data([0x31, 0xFF]).write(to: URL(filePath: path))
            #expect(#expect(throws: FileError.self) { try world.file(path) }?.code == .malformed)
        }
    }

    @Test("A folder and an endless device are no files", arguments: ["/tmp", "/dev/zero"])
    func noFile(_ path: String) {
        let error = #expect(throws: FileError.self) { try World().file(path) }
        #expect(error?.code == .unreadable)
    }

    @Test("Many threads may ask at once")
    func threads() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let world = World()
        try write("0", to: path)
        let file = try world.file(path)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    var last = 0
                    for _ in 0..<500 {
                        world.pass(.seconds(1))
                        let value = file.current
                        #expect(value >= last)
                        last = value
                    }
                }
            }
            for number in 1...50 { try? write("\(number)", to: path) }
        }
        world.pass(.seconds(1))
        #expect(file.current == 50)
    }
}
