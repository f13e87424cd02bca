import Foundation
import StackKit
import TestSupport
import Testing

/// The sources of `Examples/iOS` compile against the client library and stand-ins for Apple's modules.
@Suite(.timeLimit(.minutes(10))) struct ExampleSourcesTests {
    private static let example = TestEnvironment.packageRoot.appending(path: "Examples/iOS")
    private static let script = TestEnvironment.packageRoot.appending(path: "scripts/typecheck-examples.sh").path

    /// A copy with a misspelled call comes second: without its error, nothing would have been looked at.
    @Test func `The app and its service extension type check, and a misspelled call is found`() async throws {
        try await withExampleCopy { folder in
            let file = folder.appending(path: "NotificationService/NotificationService.swift")
            let text = try String(contentsOf: file, encoding: .utf8)
            let misspelled = text.replacingOccurrences(of: "serviceExtensionTimeWillExpire", with: "timeWillRunOut")
            try #require(misspelled != text)
            try misspelled.write(to: file, atomically: true, encoding: .utf8)
            let error = await #expect(throws: ProgramFailed.self) {
                try await run("/bin/bash", [Self.script, Self.example.path, folder.path])
            }
            let output = error?.output ?? ""
            #expect(output.contains("App: ") && output.contains("NotificationService: "), "\(output)")
            #expect(output.contains("does not override any method"), "\(output)")
        }
    }

    private func withExampleCopy(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: Self.example, to: folder)
        try await body(folder)
    }
}
