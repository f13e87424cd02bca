package import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A child process of this one, whose output goes to files.
///
/// Files and not pipes: a pipe stays open as long as the servers that the program leaves behind. Sendable because
/// Foundation's `Process` is set up once; afterwards any thread may ask its state or signal it.
package final class Program: Sendable {
    private let process: Process

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - environment: the whole environment of the child.
    ///   - output: standard output is appended to this file.
    ///   - errors: standard error is appended to this file; by default to `output`.
    ///   - folder: the working folder.
    ///   - maxDescriptors: the limit of open files and sockets (`ulimit -n`); `nil` keeps this process's own.
    package init(
        _ executable: URL, _ arguments: [String] = [], environment: [String: String], output: URL, errors: URL? = nil,
        folder: URL, maxDescriptors: Int? = nil
    ) throws {
        let process = Process()
        if let maxDescriptors {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments =
                ["-c", "ulimit -n \(maxDescriptors) && exec \"$0\" \"$@\"", executable.path] + arguments
        } else {
            process.executableURL = executable
            process.arguments = arguments
        }
        process.environment = environment
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        let outputFile = try Self.openForAppending(output)
        // The child has its own; these would stay open as long as the object.
        defer { try? outputFile.close() }
        let errorFile = try errors.map(Self.openForAppending)
        defer { try? errorFile?.close() }
        (process.standardOutput, process.standardError) = (outputFile, errorFile ?? outputFile)
        try Self.withNoSignalBlocked { try process.run() }
        self.process = process
    }

    package var isRunning: Bool { process.isRunning }

    /// The process ID.
    package var id: Int32 { process.processIdentifier }

    /// `nil` while it runs, or after a signal ended it.
    package var exitCode: Int32? {
        !process.isRunning && process.terminationReason == .exit ? process.terminationStatus : nil
    }

    package func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Waits for its end, even in a cancelled task, so that a run that is broken off can still wait for its children.
    ///
    /// - Returns: whether it ended before the limit.
    package func waitUntilEnd(within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while process.isRunning {
            if ContinuousClock.now >= deadline { return false }
            await pause(.milliseconds(20))
        }
        return true
    }

    private static func openForAppending(_ url: URL) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
        let file = try FileHandle(forWritingTo: url)
        // A pipe has no end to go to.
        _ = try? file.seekToEnd()
        return file
    }

    /// Swift's pool threads block most signals, and a child inherits the mask of the thread that starts it: without
    /// this a server would never see SIGTERM.
    private static func withNoSignalBlocked(_ body: () throws -> Void) rethrows {
        var (none, former) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        try body()
    }
}

/// A program failed or took too long.
package struct ProgramFailed: Error, CustomStringConvertible {
    package let program: String
    /// `nil` if a signal ended it, or the time limit.
    package let exitCode: Int32?
    package let output: String

    package var description: String {
        "\(program) ended with \(exitCode.map { "exit code \($0)" } ?? "a signal or its time limit"): \(output)"
    }
}

/// A program that has ended: its exit code, `nil` if a signal ended it or the time limit, and its standard output and
/// standard error.
package struct ProgramResult: Sendable {
    package let exitCode: Int32?
    package let output: String
}

/// Runs a program to its end.
///
/// It waits without holding a thread: a server under test in this process needs those of Swift's pool, of which a
/// machine of two processors has two.
///
/// - Parameters:
///   - program: a path, or a name that `PATH` resolves.
///   - environment: the whole environment of the program.
///   - folder: the working folder; by default that of this process.
///   - limit: after this time the program is killed.
package func result(
    of program: String, _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    in folder: URL? = nil, within limit: Duration = .seconds(300)
) async throws -> ProgramResult {
    let output = FileManager.default.temporaryDirectory.appending(path: "output-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: output) }
    let isPath = program.contains("/")
    let child = try Program(
        URL(filePath: isPath ? program : "/usr/bin/env"), isPath ? arguments : [program] + arguments,
        environment: environment, output: output,
        folder: folder ?? URL(filePath: FileManager.default.currentDirectoryPath))
    if !(await child.waitUntilEnd(within: limit)) {
        child.send(SIGKILL)
        _ = await child.waitUntilEnd(within: .seconds(10))
    }
    let text = String(decoding: (try? Data(contentsOf: output)) ?? Data(), as: UTF8.self)
    return ProgramResult(exitCode: child.exitCode, output: text)
}

/// Runs a program to its end and returns its standard output and standard error.
///
/// - Parameter limit: after this time the program is killed.
/// - Throws: ``ProgramFailed`` unless it exits with 0.
@discardableResult
package func run(
    _ program: String, _ arguments: [String], within limit: Duration = .seconds(300)
) async throws -> String {
    let ended = try await result(of: program, arguments, within: limit)
    guard ended.exitCode == 0 else {
        throw ProgramFailed(program: program, exitCode: ended.exitCode, output: ended.output)
    }
    return ended.output
}
