import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A process that this one starts.
///
/// Sendable because Foundation's `Process` is set up once, and asked and signalled afterwards from any thread.
final class Program: Sendable {
    let process: Process

    /// - Parameters:
    ///   - environment: all that it gets.
    ///   - output: the file that both of its outputs are appended to.
    init(_ executable: URL, _ arguments: [String] = [], environment: [String: String], output: URL, folder: URL) throws
    {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        if !FileManager.default.fileExists(atPath: output.path) { try Data().write(to: output) }
        let file = try FileHandle(forWritingTo: output)
        defer { try? file.close() }
        try file.seekToEnd()
        (process.standardOutput, process.standardError) = (file, file)
        try Self.withNoSignalBlocked { try process.run() }
        self.process = process
    }

    var isRunning: Bool { process.isRunning }
    /// `nil` while it runs, or when a signal ended it.
    var exitCode: Int32? {
        !process.isRunning && process.terminationReason == .exit ? process.terminationStatus : nil
    }

    func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Waits for its end, also in a task that is cancelled: what ends a run must be able to wait.
    ///
    /// - Returns: whether it ended in time.
    func awaitEnd(within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while process.isRunning {
            if ContinuousClock.now >= deadline { return false }
            await pause(.milliseconds(20))
        }
        return true
    }

    /// Swift's pool threads block most signals, and a program inherits what the thread that starts it blocks: a server
    /// would never see SIGTERM.
    private static func withNoSignalBlocked(_ body: () throws -> Void) rethrows {
        var (none, former) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        try body()
    }
}

/// A wait that a cancelled task does not cut short: loops that poll would spin without it.
func pause(_ duration: Duration) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { continuation.resume() }
    }
}
