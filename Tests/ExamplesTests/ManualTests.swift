import Foundation
import StackKit
import TestSupport
import Testing

/// The manual pages and completion scripts that `make man` writes.
@Suite(.timeLimit(.minutes(5))) struct ManualTests {
    private static let services = ["ingest", "dispatcher", "retrieval", "operator", "hub", "hub-emulator"]

    /// Runs a shell command in the package's folder; its output and its messages.
    private func shell(_ command: String) async throws -> ProgramResult {
        try await result(of: "/bin/bash", ["-c", command], in: TestEnvironment.packageRoot)
    }

    private func withManual(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "manual-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let binaries = Bundle.main.executableURL?.deletingLastPathComponent().path ?? ".build/debug"
        let made = try await shell("scripts/manual.sh '\(binaries)' '\(folder.path)/man' '\(folder.path)/completions'")
        try #require(made.exitCode == 0, "\(made.output)")
        try await body(folder)
    }

    /// One test, because the pages are written once: each is a start of a program, as are the scripts.
    @Test func `Pages and completion scripts are complete, and their readers accept them`() async throws {
        try await withManual { folder in
            try await expectNoWarnings(folder)
            try expectNames(folder)
            let run = try await shell("bash -n '\(folder.path)/completions/bash/securepush'")
            #expect(run.exitCode == 0, "\(run.output)")
        }
    }

    /// groff reads every page without a warning, in 80 columns.
    private func expectNoWarnings(_ folder: URL) async throws {
        let pages = try await shell("find '\(folder.path)/man' -type f").output.split(separator: "\n").map(String.init)
        #expect(pages.count > 20)
        for page in pages {
            let run = try await shell("LC_ALL=C.UTF-8 groff -man -Tutf8 -ww -rLL=80n '\(page)' 2>&1 >/dev/null")
            #expect(run.exitCode == 0 && run.output.isEmpty, "\(run.output)")
            let text = try await shell("groff -man -Tascii -P-cbou -rLL=80n '\(page)'").output
            // Examples and lists, indented by eleven blanks, keep their lines.
            let verbatim = String(repeating: " ", count: 11)
            let long = text.split(separator: "\n").filter { line in
                line.count > 80 && !(line.hasPrefix(verbatim) && line.dropFirst(11).first != " ")
            }
            #expect(long.isEmpty, "\(page): \(long)")
        }
    }

    /// Every command and every setting is in its page.
    private func expectNames(_ folder: URL) throws {
        let root = try String(contentsOf: folder.appending(path: "man/man1/securepush.1"), encoding: .utf8)
        for command in ["send", "doctor", "dead\\-letters", "version"] {
            #expect(root.contains("securepush\\-\(command)"), "\(command)")
        }
        for service in Self.services {
            let path = folder.appending(path: "man/man8/securepush-\(service).8")
            let page = try String(contentsOf: path, encoding: .utf8)
            for setting in ["HTTP_PORT", "LOG_LEVEL"] { #expect(page.contains(setting), "\(service): \(setting)") }
            #expect(page.contains("\\fB\\-\\-http\\-port\\fR"))
        }
    }
}
