package import Foundation
import StackKit

/// A service or the command line that a test runs as a process; its output goes to files.
package struct ProcessUnderTest: Sendable {
    package let name: String
    private let program: Program
    private let output: URL
    private let errors: URL

    /// Starts `securepush serve NAME`, or `securepush`. Its environment holds only the given variables.
    ///
    /// - Parameters:
    ///   - folder: the working folder, which also gets the files of its output.
    ///   - descriptors: the limit of open files and sockets; `nil` keeps that of the tests.
    package init(
        _ name: String, _ arguments: [String] = [], environment: [String: String] = [:], folder: URL,
        descriptors: Int? = nil
    ) throws {
        self.name = name
        let run = UUID().uuidString.prefix(8)
        output = folder.appending(path: "\(name)-\(run).out")
        errors = folder.appending(path: "\(name)-\(run).log")
        program = try Program(
            ProcessUnderTest.executables.appending(path: "securepush"),
            (name == "securepush" ? [] : ["serve", name]) + arguments, environment: environment, output: output,
            errors: errors, folder: folder, maxDescriptors: descriptors)
    }

    /// What it has written so far.
    package var standardOutput: String { ProcessUnderTest.text(of: output) }
    package var standardError: String { ProcessUnderTest.text(of: errors) }

    package var isRunning: Bool { program.isRunning }

    /// The process ID.
    package var id: Int32 { program.id }

    /// SIGTERM.
    package func terminate() { program.send(SIGTERM) }

    /// SIGHUP.
    package func hangUp() { program.send(SIGHUP) }

    /// SIGKILL.
    package func kill() { program.send(SIGKILL) }

    /// SIGSTOP: it does nothing more, and its connections stay open.
    package func pause() { program.send(SIGSTOP) }

    /// SIGCONT.
    package func proceed() { program.send(SIGCONT) }

    /// The exit code, or `nil` if the process outlives the deadline or a signal ended it.
    package func exitCode(within deadline: Duration = patience) async throws -> Int32? {
        guard try await eventually(within: deadline, { !program.isRunning }) else { return nil }
        return program.exitCode
    }

    /// The port that it logs to listen on (`LOG_FORMAT=json`).
    package func port(within deadline: Duration = patience) async throws -> Int {
        struct NotListening: Error { let log: String }
        var port: Int?
        _ = try await eventually(within: deadline) {
            port = loggedPort
            return port != nil || !program.isRunning
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

    /// The folder of the running test bundle, which also holds the executables.
    package static var executables: URL {
        #if os(macOS)
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
        return bundle.bundleURL.deletingLastPathComponent()
        #else
        return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #endif
    }

    private static func text(of url: URL) -> String {
        String(decoding: (try? Data(contentsOf: url)) ?? Data(), as: UTF8.self)
    }
}
