import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A program that did not end well, with what it said.
public struct ProgramFailed: Error, CustomStringConvertible {
    public let program: String
    public let status: Int32
    public let output: String
    public var description: String { "\(program) ended with \(status): \(output)" }
}

/// Runs a program, and throws when it does not end with status 0. Otherwise returns what it wrote.
///
/// Its output goes to a file: a pipe would stay open as long as the servers that the program leaves behind.
@discardableResult
public func run(_ program: String, _ arguments: [String]) async throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "output-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    (process.standardOutput, process.standardError) = (handle, handle)
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        process.terminationHandler = { _ in continuation.resume() }
        do { try withNoSignalBlocked { try process.run() } } catch { continuation.resume(throwing: error) }
    }
    let output = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    guard process.terminationStatus == 0 else {
        throw ProgramFailed(program: program, status: process.terminationStatus, output: output)
    }
    return output
}

/// Swift's pool threads block most signals, and a program inherits what the thread that starts it blocks: a server
/// would never see SIGTERM.
private func withNoSignalBlocked(_ body: () throws -> Void) rethrows {
    var (none, former) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    try body()
}
