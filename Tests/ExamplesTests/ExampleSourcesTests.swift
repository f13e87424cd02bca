import Foundation
import StackKit
import TestSupport
import Testing

/// The sources of `Examples/iOS` compile against the client library and stand-ins for Apple's modules.
@Suite(.timeLimit(.minutes(10))) struct ExampleSourcesTests {
    private static let script = TestEnvironment.packageRoot.appending(path: "scripts/typecheck-examples.sh").path

    @Test func `The app and its service extension type check`() async throws {
        let output = try await run("/bin/bash", [Self.script])
        for target in ["App", "NotificationService"] {
            #expect(output.contains("\(target): "), "\(output)")
        }
    }

    /// Otherwise the test above could pass without looking at anything.
    @Test func `A misspelled call is found`() async throws {
        try await withExampleCopy { folder in
            let file = folder.appending(path: "NotificationService/NotificationService.swift")
            let text = try String(contentsOf: file, encoding: .utf8)
            let misspelled = text.replacingOccurrences(of: "serviceExtensionTimeWillExpire", with: "timeWillRunOut")
            try #require(misspelled != text)
            try misspelled.write(to: file, atomically: true, encoding: .utf8)
            let error = await #expect(throws: ProgramFailed.self) {
                try await run("/bin/bash", [Self.script, folder.path])
            }
            #expect(error?.output.contains("does not override any method") == true)
        }
    }

    private func withExampleCopy(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: TestEnvironment.packageRoot.appending(path: "Examples/iOS"), to: folder)
        try await body(folder)
    }
}
