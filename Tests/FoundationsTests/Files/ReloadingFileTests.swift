import Foundation
import Foundations
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

struct ReloadingFileTests {
    /// A clock that the test moves, and the reports.
    private final class World: Sendable {
        let time = Mutex(ContinuousClock.now)
        let problems = Mutex<[FileError]>([])

        func pass(_ duration: Duration) { time.withLock { $0 += duration } }

        func file(
            _ path: String, whileUnusable: ReloadingFile<Int>.WhileUnusable = .keepsLast
        ) throws -> ReloadingFile<Int> {
            try ReloadingFile(
                path: path, whileUnusable: whileUnusable, now: { self.time.withLock { $0 } },
                report: { problem in self.problems.withLock { $0.append(problem) } },
                parse: { text in
                    guard let number = Int(text) else { throw SetupError(.malformed, "This is no number.") }
                    return number
                })
        }
    }

    @Test func `A changed file is read again, a second later at the latest`() throws {
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

    @Test func `Bad content keeps the value, and is reported once for each change`() throws {
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

    @Test func `A file that goes away keeps the value, is reported once, and is read when it is back`() throws {
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

    /// The attack of the security review, finding 3: before, one failed read was the last.
    @Test func `A new file that could not be read is read when it can be, although its content is the same`() throws {
        try withTemporaryPath { path in
            let world = World()
            try write("1", to: path)
            let file = try world.file(path)
            try write("2", to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            // Opened by another user's right: root may read everything.
            asNobody {
                world.pass(.seconds(1))
                #expect(file.current == 1)
                #expect(world.problems.withLock { $0.map(\.code) } == [.unreadable])
            }
            world.pass(.seconds(1))
            #expect(file.current == 2)
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `chown and chmod make a version that is read again`() throws {
        try withTemporaryPath { path in
            let world = World()
            try write("1", to: path)
            let file = try world.file(path)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            asNobody {
                world.pass(.seconds(1))
                #expect(file.current == 1)
                #expect(world.problems.withLock { $0.count } == 1)
                world.pass(.seconds(1))
                #expect(file.current == 1)
                #expect(world.problems.withLock { $0.count } == 1)
            }
            #expect(chown(path, 65534, 65534) == 0)
            asNobody {
                world.pass(.seconds(1))
                #expect(file.current == 1)
                #expect(file.problemAfterReload() == nil)
            }
        }
    }

    @Test func `Credentials that cannot be used deny access after a minute, and until they can be used`() throws {
        try withTemporaryPath { path in
            let world = World()
            try write("1", to: path)
            let file = try world.file(path, whileUnusable: .denies)
            let keeping = try world.file(path)
            try write("x", to: path)
            for second in 1...59 {
                world.pass(.seconds(1))
                #expect(file.usable == 1, "after \(second) s")
                #expect(file.reportedProblem == nil)
                #expect(keeping.reportedProblem?.code == .malformed)
            }
            world.pass(.seconds(1))
            #expect(file.usable == nil && file.refreshedUsable() == nil)
            #expect(file.reportedProblem?.code == .malformed)
            #expect(file.current == 1)
            #expect(keeping.usable == 1 && keeping.reportedProblem?.code == .malformed)
            try write("2", to: path)
            world.pass(.seconds(1))
            #expect(file.usable == 2 && file.reportedProblem == nil)
        }
    }

    @Test func `Credentials that nobody asked for in a while get no minute more`() throws {
        try withTemporaryPath { path in
            let world = World()
            try write("1", to: path)
            let file = try world.file(path, whileUnusable: .denies)
            world.pass(.seconds(3600))
            #expect(file.usable == 1)
            try write("x", to: path)
            world.pass(.seconds(60))
            #expect(file.usable == nil)
        }
    }

    @Test func `A file of credentials that is deleted denies access within a second`() throws {
        try withTemporaryPath { path in
            let world = World()
            try write("1", to: path)
            let file = try world.file(path, whileUnusable: .denies)
            try FileManager.default.removeItem(atPath: path)
            world.pass(.seconds(1))
            #expect(file.usable == nil)
            #expect(file.reportedProblem?.code == .missing)
            try write("1", to: path)
            world.pass(.seconds(1))
            #expect(file.usable == 1)
        }
    }

    @Test func `A version that failed is not read again for every caller`() throws {
        try withTemporaryPath { path in
            let world = World()
            let readings = Mutex(0)
            try write("1", to: path)
            let file = try ReloadingFile(path: path, now: { world.time.withLock { $0 } }) { text in
                readings.withLock { $0 += 1 }
                guard let number = Int(text) else { throw SetupError(.malformed, "This is no number.") }
                return number
            }
            try write("x", to: path)
            for _ in 0..<10 { #expect(file.refreshed() == 1) }
            #expect(readings.withLock { $0 } == 2)
            world.pass(.seconds(1))
            #expect(file.refreshed() == 1)
            #expect(readings.withLock { $0 } == 3)
        }
    }

    /// Runs a body with the file rights of the user `nobody`. On Linux they are the thread's own (`setfsuid`, which is
    /// not in Swift's Glibc module), so that tests beside this one are not touched.
    private func asNobody(_ body: () -> Void) {
        #if os(Linux)
        typealias SetFileUser = @convention(c) (uid_t) -> Int32
        guard geteuid() == 0, let symbol = dlsym(dlopen(nil, RTLD_NOW), "setfsuid") else { return }
        let setFileUser = unsafeBitCast(symbol, to: SetFileUser.self)
        _ = setFileUser(65534)
        defer { _ = setFileUser(0) }
        body()
        #endif
    }

    @Test func `The first reading must succeed`() throws {
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

    @Test(arguments: ["/tmp", "/dev/zero"])
    func `A folder and an endless device are no files`(_ path: String) {
        let error = #expect(throws: FileError.self) { try World().file(path) }
        #expect(error?.code == .unreadable)
    }

    @Test func `Many threads may ask at once`() async throws {
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
