public import Foundation

/// An executable of this package, run as a process of its own; what it writes goes to files.
public struct ProcessUnderTest: Sendable {
    public let name: String
    private let process: Process
    private let output: URL
    private let errors: URL

    /// Starts `name`, one of the package's products, with nothing in its environment but what is given.
    ///
    /// - Parameters:
    ///   - folder: its working folder, which the files of its output are put into.
    ///   - descriptors: how many files and sockets it may have open; `nil`: as many as the tests.
    public init(
        _ name: String, _ arguments: [String] = [], environment: [String: String] = [:], folder: URL,
        descriptors: Int? = nil
    ) throws {
        self.name = name
        let run = UUID().uuidString.prefix(8)
        output = folder.appending(path: "\(name)-\(run).out")
        errors = folder.appending(path: "\(name)-\(run).log")
        process = Process()
        let executable = ProcessUnderTest.executables.appending(path: name)
        if let descriptors {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "ulimit -n \(descriptors) && exec \"$0\" \"$@\"", executable.path] + arguments
        } else {
            process.executableURL = executable
            process.arguments = arguments
        }
        process.environment = environment
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        let files = [try ProcessUnderTest.file(output), try ProcessUnderTest.file(errors)]
        (process.standardOutput, process.standardError) = (files[0], files[1])
        try process.run()
        // The process has its own; these would stay open as long as the object.
        for file in files { try file.close() }
    }

    /// What it has written so far.
    public var standardOutput: String { ProcessUnderTest.text(of: output) }
    public var standardError: String { ProcessUnderTest.text(of: errors) }

    public var isRunning: Bool { process.isRunning }

    /// The number that the system knows it by.
    public var id: Int32 { process.processIdentifier }

    /// SIGTERM.
    public func terminate() { process.terminate() }

    /// SIGHUP.
    public func hangUp() { _ = Foundation.kill(process.processIdentifier, SIGHUP) }

    /// SIGKILL.
    public func kill() {
        if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
    }

    /// SIGSTOP: it does nothing more, and its connections stay open.
    public func pause() { _ = Foundation.kill(process.processIdentifier, SIGSTOP) }

    /// SIGCONT.
    public func proceed() { _ = Foundation.kill(process.processIdentifier, SIGCONT) }

    /// The code that it exits with, or `nil` if it runs on past the deadline or was ended by a signal.
    public func exitCode(within deadline: Duration = .seconds(20)) async throws -> Int32? {
        guard try await eventually(within: deadline, { !process.isRunning }) else { return nil }
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    /// The port that it logs to listen on (`LOG_FORMAT=json`).
    public func port(within deadline: Duration = .seconds(30)) async throws -> Int {
        struct NotListening: Error { let log: String }
        var port: Int?
        _ = try await eventually(within: deadline) {
            port = loggedPort
            return port != nil || !process.isRunning
        }
        guard let port else { throw NotListening(log: standardError) }
        return port
    }

    private var loggedPort: Int? {
        for line in standardError.split(separator: "\n") {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            // Hummingbird's own line: "Server started and listening on 127.0.0.1:44809".
            guard let body = object?["body"] as? String, body.contains("listening on") else { continue }
            return body.split(separator: ":").last.flatMap { Int($0) }
        }
        return nil
    }

    /// The folder of the running test bundle, where the executables are too.
    public static var executables: URL {
        #if os(macOS)
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
        return bundle.bundleURL.deletingLastPathComponent()
        #else
        return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #endif
    }

    private static func file(_ url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }

    private static func text(of url: URL) -> String {
        String(decoding: (try? Data(contentsOf: url)) ?? Data(), as: UTF8.self)
    }
}
