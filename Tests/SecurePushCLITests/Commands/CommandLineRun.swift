import Foundation
import TestSupport
import Testing

/// One run of the real `securepush`, with nothing in its environment but what is given.
struct CommandLineRun {
    var code: Int32?
    var output: String
    var errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// - Parameter folder: `nil` for one of its own.
    init(_ arguments: [String], _ environment: [String: String] = [:], in folder: String? = nil) async throws {
        guard let folder else {
            self = try await withTemporaryFolder { try await Self(arguments, environment, in: $0) }
            return
        }
        let process = try ProcessUnderTest(
            "securepush", arguments, environment: environment, folder: URL(filePath: folder))
        code = try await process.exitCode()
        output = process.standardOutput
        errors = process.standardError
    }
}
