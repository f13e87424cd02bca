import Foundation
import Foundations
import Hub
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct HubImportCommandTests {
    private static func line(_ id: String, token: String = "aa", tags: String = "username:alice") -> String {
        "<RegistrationDescription xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
            + "i:type=\"AppleRegistrationDescription\" "
            + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><ETag>1</ETag>"
            + "<ExpirationTime>9999-12-31T23:59:59.9999999Z</ExpirationTime><RegistrationId>\(id)</RegistrationId>"
            + "<Tags>\(tags)</Tags><DeviceToken>\(token)</DeviceToken></RegistrationDescription>"
    }

    private func withExport(
        _ lines: [String], _ body: (_ folder: String, _ environment: [String: String]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: folder + "/export.txt"))
            try await body(folder, ["DATABASE_URL": "sqlite:\(folder)/data.sqlite", "HUB_NAME": "app"])
        }
    }

    @Test func `An export is checked, imported, and not imported twice`() async throws {
        try await withExport([Self.line("1"), Self.line("2", token: "secretbb", tags: "a b"), Self.line("3")]) {
            folder, environment in
            let dry = try await CommandLineRun(["hub", "import", "export.txt", "--dry-run"], environment, in: folder)
            #expect(dry.code == 1 && dry.output.contains("  2 to import"), "\(dry.output)\(dry.errors)")
            #expect(dry.errors.contains("line 2: A tag is invalid") && dry.errors.contains("assumed to have begun at"))
            #expect(!SecretFile.exists(folder + "/data.sqlite"))
            let migrated = try await CommandLineRun(["migrate", "--create", "--hub"], environment, in: folder)
            #expect(migrated.code == 0, "\(migrated.errors)")
            let arguments = [
                "hub", "import", "export.txt", "--bad", "bad.txt", "--exported-at", "2026-11-20T08:00:00Z",
            ]
            let run = try await CommandLineRun(arguments, environment, in: folder)
            #expect(run.code == 1 && run.lines == ["3 lines", "  2 imported", "  1 bad"], "\(run.errors)")
            #expect(try SecretFile.read(folder + "/bad.txt").hasPrefix("2\tA tag is invalid"))
            #expect(!(run.output + run.errors).lowercased().contains("secretbb"))
            let again = try await CommandLineRun(arguments + ["--json"], environment, in: folder)
            #expect(again.output.contains(#""FormerLines":3"#) && again.output.contains(#""Imported":2"#))
            let devices = try await CommandLineRun(["hub", "devices", "app", "--json"], environment, in: folder)
            #expect(devices.output.contains(#""Devices":2"#), "\(devices.output)\(devices.errors)")
        }
    }

    @Test func `A hub without rules, a missing name and other files are refused`() async throws {
        try await withExport([Self.line("1")]) { folder, environment in
            let arguments = ["hub", "import", "export.txt", "--dry-run"]
            let none = try await CommandLineRun(arguments, in: folder)
            #expect(none.code == 64 && none.errors.contains("--hub NAME"))
            let future = try await CommandLineRun(
                arguments + ["--exported-at", "2200-01-01T00:00:00Z"], environment, in: folder)
            #expect(future.code == 64 && future.errors.contains("in the future"), "\(future.errors)")
            let made = try await CommandLineRun(["hub", "create", "other", "--access-file", "access"], in: folder)
            #expect(made.code == 0, "\(made.errors)")
            let access = ["HUB_ACCESS_FILE": folder + "/access"]
            let unknown = try await CommandLineRun(arguments, environment.merging(access) { $1 }, in: folder)
            #expect(unknown.code == 1 && unknown.errors.contains("names no hub app"), "\(unknown.errors)")
            try Data("{}".utf8).write(to: URL(filePath: folder + "/export.txt"))
            let json = try await CommandLineRun(arguments, environment, in: folder)
            #expect(json.code == 78 && json.errors.contains("JSON"), "\(json.errors)")
            let missing = try await CommandLineRun(["hub", "import", "x", "--dry-run"], environment, in: folder)
            #expect(missing.code == 78, "\(missing.errors)")
        }
    }

    @Test func `The progress has a share, a rate and the rest`() {
        var start = HubImportProgress(exportedAt: .now)
        (start.bytes, start.lines) = (100, 10)
        var state = HubImport.State(start, size: 1000)
        #expect(ImportDisplay.text(state, after: .zero) == "10%  10 lines: 0 imported, 0 bad")
        (state.progress.bytes, state.progress.lines) = (500, 2010)
        (state.progress.counts.imported, state.progress.counts.bad) = (2000, 5)
        #expect(
            ImportDisplay.text(state, after: .seconds(4))
                == "50%  2,010 lines, 500 a second, 5 s left: 2,000 imported, 5 bad")
    }
}
