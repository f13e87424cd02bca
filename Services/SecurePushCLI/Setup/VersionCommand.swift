import AMQP
import ArgumentParser
import Foundation
import ServiceRuntime
import Storage

struct VersionCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Show the version, the git revision, and the versions of the libraries.",
        discussion: """
            Give its output with every report of a problem.

            EXAMPLES
              securepush version
              securepush version --json
            """)

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on console: Console) async throws {
        let report = VersionReport()
        guard !console.isJSON else { return try console.show(report, "") }
        try console.line(SecurePushVersion.line(of: report.name))
        for line in Facts.lines(report.rows) { try console.line(line) }
    }
}

struct VersionReport: Encodable, Sendable {
    let name = "securepush"
    let version = SecurePushVersion.current
    let revision = SecurePushVersion.revision
    let swift = SecurePushVersion.swift
    let librabbitmq = AMQPLibrary.version
    let libpq = StorageLibraries.libpq
    let sqlite = StorageLibraries.sqlite
    let platform = "\(ProcessInfo.processInfo.operatingSystemVersionString), \(VersionReport.architecture)"

    private enum CodingKeys: String, CodingKey {
        case name, version, revision, swift, librabbitmq, libpq, sqlite = "SQLite", platform
    }

    var rows: [(String, String)] {
        [
            ("revision", revision), ("librabbitmq", librabbitmq), ("libpq", libpq), ("SQLite", sqlite),
            ("platform", platform),
        ]
    }

    private static var architecture: String {
        #if arch(x86_64)
        "x86_64"
        #elseif arch(arm64)
        "arm64"
        #else
        "another processor"
        #endif
    }
}
