import Foundation
import Foundations
import Hub
import Storage
import Synchronization

/// Shows the progress of an import: on a terminal as a line that is redrawn, elsewhere as a line for each further 10 %.
final class ImportDisplay: Sendable {
    private struct State {
        var milestone = Milestone()
        var start: ContinuousClock.Instant?
        var bad: [HubImport.BadLine] = []
        var badCount = 0
    }

    /// The maximum number of bad lines that are shown.
    private static let maxShown = 20

    let line: ProgressLine
    private let console: Console
    private let file: BadLineFile?
    private let isTimeGiven: Bool
    private let state = Mutex(State())

    /// - Parameter isTimeGiven: whether a person has said when the export was begun.
    init(_ console: Console, file: BadLineFile?, isTimeGiven: Bool) {
        (line, self.console, self.file, self.isTimeGiven) = (ProgressLine(console), console, file, isTimeGiven)
    }

    func show(_ import: HubImport.State) {
        if console.isJSON { return }
        let text = state.withLock { state -> String? in
            if state.start == nil, !isTimeGiven {
                let time = `import`.progress.exportedAt.rfc3339Seconds
                console.message("The export is assumed to have begun at \(time); --exported-at names another time.")
            }
            let start = state.start ?? .now
            state.start = start
            let text = Self.text(`import`, after: ContinuousClock.now - start)
            if line.isShown { return text }
            return state.milestone.next(`import`.progress.bytes, of: `import`.size) == nil ? nil : text
        }
        guard let text else { return }
        line.isShown ? line.show(text) : console.message(text)
    }

    /// `40%  412,000 lines, 9,800 a second, 1 min 3 s left: 411,000 imported, 12 bad`
    static func text(_ state: HubImport.State, after elapsed: Duration) -> String {
        let progress = state.progress
        let share = state.size > 0 ? Int(Double(progress.bytes) / Double(state.size) * 100) : 100
        var text = "\(share)%  \(progress.lines.grouped) lines"
        let seconds = elapsed / .seconds(1)
        let (lines, bytes) = (progress.lines - state.formerLines, progress.bytes - state.formerBytes)
        if seconds >= 1, lines > 0 {
            let left = min(Double(state.size - progress.bytes) / Double(max(bytes, 1)) * seconds, 1e9)
            text += ", \(Int(Double(lines) / seconds).grouped) a second"
            if left >= 1 { text += ", \(Int(left).grouped) s left" }
        }
        return text + ": \(progress.counts.imported.grouped) imported, \(progress.counts.bad.grouped) bad"
    }

    /// - Throws: ``CommandFailure`` if the file of bad lines cannot be written.
    func note(_ bad: [HubImport.BadLine]) throws {
        state.withLock { state in
            state.bad += bad.prefix(max(0, Self.maxShown - state.bad.count))
            state.badCount += bad.count
        }
        try file?.append(bad)
    }

    func reportBadLines() {
        let (bad, count) = state.withLock { ($0.bad, $0.badCount) }
        if console.isJSON { return }
        for line in bad { console.message("line \(line.line.grouped): \(line.reason)") }
        if count > bad.count {
            console.message("\((count - bad.count).grouped) more lines are bad. --bad FILE gets all of them.")
        }
    }
}

/// Gets a line for each bad line of an import: its number, a tab, and the reason.
final class BadLineFile: Sendable {
    private let path: String
    private let file: FileHandle

    /// Opens a file, or makes one with mode 0600. Its content stays, because an import may continue.
    ///
    /// - Throws: ``CommandFailure``.
    init(_ path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .configuration, "--bad: \(path.printable) cannot be written: \(String(cString: strerror(errno))).")
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func append(_ lines: [HubImport.BadLine]) throws {
        let text = lines.map { "\($0.line)\t\($0.reason)\n" }.joined()
        do { try file.write(contentsOf: Data(text.utf8)) } catch {
            throw CommandFailure(.failed, "--bad: \(path.printable) cannot be written: \(ErrorText.reason(error)).")
        }
    }
}

/// What an import has done.
struct ImportReport: Encodable, Sendable, Equatable {
    var hub: String
    var isDryRun: Bool
    var exportedAt: String
    /// How many lines are done, and how many of them earlier runs did.
    var lineCount: Int
    var formerLines: Int
    var imported: Int
    var unchanged: Int
    var newer: Int
    var deleted: Int
    var expired: Int
    var otherPlatforms: [String: Int]
    var bad: Int

    private enum CodingKeys: String, CodingKey {
        case hub, isDryRun = "DryRun", exportedAt, lineCount = "Lines", formerLines, imported, unchanged, newer, deleted
        case expired, otherPlatforms, bad
    }

    init(_ state: HubImport.State, hub: String, isDryRun: Bool) {
        let counts = state.progress.counts
        (self.hub, self.isDryRun) = (hub, isDryRun)
        exportedAt = state.progress.exportedAt.rfc3339Seconds
        (lineCount, formerLines) = (state.progress.lines, state.formerLines)
        (imported, unchanged, newer) = (counts.imported, counts.unchanged, counts.newer)
        (deleted, expired, bad) = (counts.deleted, counts.expired, counts.bad)
        otherPlatforms = counts.otherPlatforms
    }

    /// For people: a line for each count that is not 0.
    var lines: [String] {
        let former = formerLines > 0 ? ", \(formerLines.grouped) of them by earlier runs" : ""
        let others = otherPlatforms.sorted { $0.key < $1.key }.map { platform, count in
            (count, "of \(platform), which the hub cannot push to")
        }
        let counts = [
            (imported, isDryRun ? "to import" : "imported"), (unchanged, "imported before"),
            (newer, "older than the hub's own"), (deleted, "deleted in the hub"), (expired, "expired"),
        ]
        let rows = (counts + others + [(bad, "bad")]).filter { $0.0 > 0 }
        return ["\(lineCount.grouped) lines\(former)"] + rows.map { "  \($0.0.grouped) \($0.1)" }
    }
}
