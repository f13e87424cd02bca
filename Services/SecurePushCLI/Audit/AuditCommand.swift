import ArgumentParser
import Foundation
import Foundations

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Check audit logs (AUDIT_LOG).",
        discussion: """
            EXAMPLES
              securepush audit verify /var/log/securepush/audit.log
            """,
        subcommands: [Verify.self])

    struct Verify: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check that no line of an audit log was changed, added or removed.",
            discussion: """
                Each line holds the hash of the line before. Give rotated files with the oldest first. The chain has \
                no key, so keep the printed hash of the last line in another place: --contains proves later that the \
                lines up to it are still the same. Exit codes: 0 intact, 1 not intact, 78 a file cannot be read.

                EXAMPLES
                  securepush audit verify /var/log/securepush/audit.log.1 \\
                      /var/log/securepush/audit.log
                  securepush audit verify audit.log --contains "$(cat audit.head)"
                  securepush audit verify --allow-restarts captured.log
                """)

        @Argument(help: "The files, the oldest first.", completion: .file())
        var files: [String]

        @Option(help: ArgumentHelp("The hash of a line that must be in the log.", valueName: "hash"))
        var contains: String?

        @Flag(help: "Accept new chains, which begin at each start of a service that writes to standard output.")
        var allowRestarts = false

        @OptionGroup(title: "Output") var output: OutputOptions

        func validate() throws {
            if let contains, AuditHash(contains) == nil {
                throw ValidationError("--contains needs the 64 hex digits of a hash.")
            }
        }

        func run(on console: Console) async throws {
            let wanted = contains.flatMap { AuditHash($0) }
            var verifier = AuditVerifier(wanted: wanted, allowsRestarts: allowRestarts)
            for path in files { try AuditLines.read(path) { verifier.check($0, at: "\(path), line \($1)") } }
            let report = verifier.report
            if let fault = report.fault { throw CommandFailure(.failed, fault.printable) }
            guard wanted == nil || report.isFound else {
                throw CommandFailure(
                    .failed, "No line has the hash of --contains.",
                    details: ["The lines at the time of that hash were replaced, or are in an earlier file."])
            }
            try console.show(AuditReport(report), AuditReport.text(report))
        }
    }
}

private struct AuditReport: Encodable {
    var lines: Int
    var incomplete: Int
    var restarts: Int
    var first: String?
    var last: String?
    var head: String
    var continuesEarlierFile: Bool

    init(_ report: AuditVerifier.Report) {
        (lines, incomplete, restarts) = (report.lines, report.incomplete, report.restarts)
        (first, last, head) = (report.first, report.last, report.head.text)
        continuesEarlierFile = report.earlier != .none
    }

    static func text(_ report: AuditVerifier.Report) -> String {
        guard report.lines > 0 else { return "The audit log is empty." }
        let times = [report.first, report.last].compactMap(\.self).map(\.printable).joined(separator: " to ")
        var lines = [
            "\(counted(report.lines)), \(times). The chain is intact.",
            "hash of the last line: \(report.head.text)",
        ]
        if report.earlier != .none { lines.append("The first line continues an earlier file.") }
        if report.incomplete > 0 {
            lines.append("not completed when their process ended: \(counted(report.incomplete))")
        }
        if report.restarts > 0 { lines.append("new chains after the first line: \(report.restarts.grouped)") }
        return lines.joined(separator: "\n")
    }

    private static func counted(_ lines: Int) -> String { lines == 1 ? "1 line" : "\(lines.grouped) lines" }
}

/// Reads a file of any size line by line.
private enum AuditLines {
    /// - Parameter body: gets each line without its line feed, and its number from 1. Lines that are too long are cut
    ///   behind the limit, so that they are refused.
    /// - Throws: ``CommandFailure`` if the file cannot be read.
    static func read(_ path: String, _ body: ([UInt8], Int) -> Void) throws {
        guard let descriptor = try? FileContent.open(path) else {
            throw CommandFailure(
                .configuration, "\(path.printable) cannot be read. Name a file that this user can read.")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var line: [UInt8] = []
        var number = 0
        while true {
            let chunk: Data
            do {
                chunk = try file.read(upToCount: 1 << 16) ?? Data()
            } catch {
                throw CommandFailure(.configuration, "\(path.printable) cannot be read to its end.")
            }
            guard !chunk.isEmpty else { break }
            for byte in chunk {
                guard byte == UInt8(ascii: "\n") else {
                    if line.count <= AuditVerifier.maxLine { line.append(byte) }
                    continue
                }
                number += 1
                body(line, number)
                line.removeAll(keepingCapacity: true)
            }
        }
        if !line.isEmpty { body(line, number + 1) }
    }
}
