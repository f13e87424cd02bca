import Foundations
import PushServices
import Storage

/// Reads an export in batches of bounded size.
struct ExportReader {
    private static let maxLines = 1000
    private static let maxBytes = 2 << 20

    private var lines: ExportLines
    private let exportedAt: Timestamp
    private let now: Timestamp
    private let connectors: [NotificationFormat: any PushConnector]

    init(
        _ file: ExportFile, from start: HubImportProgress, now: Timestamp,
        connectors: [NotificationFormat: any PushConnector]
    ) {
        lines = ExportLines(file, bytes: start.bytes, lines: start.lines)
        (exportedAt, self.now, self.connectors) = (start.exportedAt, now, connectors)
    }

    /// - Returns: `nil` after the last line.
    mutating func batch() throws(FileError) -> ExportBatch? {
        var batch = ExportBatch()
        let (first, start) = (lines.lines, lines.bytes)
        while lines.lines - first < Self.maxLines, lines.bytes - start < Self.maxBytes, let line = try lines.next() {
            switch line {
            case .tooLong:
                batch.note("The line is longer than \(ExportLines.maxBytes >> 10) KiB.", line: lines.lines)
            case .text(let bytes):
                batch.add(
                    ExportedLine(bytes, exportedAt: exportedAt, now: now) { problem(of: $0) }, line: lines.lines)
            }
        }
        (batch.bytes, batch.lines) = (lines.bytes, lines.lines)
        return lines.lines > first ? batch : nil
    }

    private func problem(of registration: RegistrationEntry) -> String? {
        connectors[registration.format]?.problem(of: registration.address)
    }
}

/// The next lines of an export.
struct ExportBatch: Sendable {
    /// The end of the lines, in bytes from the start of the file.
    var bytes: Int = 0
    var lines: Int = 0
    private(set) var bad: [HubImport.BadLine] = []
    private(set) var parts: [(line: Int, part: ExportedPart)] = []
    private var registrations: [RegistrationEntry] = []
    private var counts = HubImportCounts()

    mutating func add(_ content: ExportedLine, line: Int) {
        switch content {
        case .registration(let registration): registrations.append(registration)
        case .part(let part): parts.append((line, part))
        case .expired: counts.expired += 1
        case .otherPlatform(let name): counts.otherPlatforms[name, default: 0] += 1
        case .bad(let reason): note(reason, line: line)
        case .blank: break
        }
    }

    mutating func note(_ reason: String, line: Int) {
        counts.bad += 1
        bad.append(HubImport.BadLine(line: line, reason: reason))
    }

    /// The entries to store.
    func stored(after start: HubImportProgress) -> HubImportBatch {
        var batch = HubImportBatch(start: start)
        (batch.endBytes, batch.endLines, batch.counts) = (bytes, lines, counts)
        batch.registrations = registrations.map(\.stored)
        batch.installations = Dictionary(grouping: parts.map(\.part), by: \.installationID).values.compactMap {
            HubImportBatch.Installation($0, exportedAt: start.exportedAt)
        }
        return batch
    }
}
