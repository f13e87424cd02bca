package import Foundations

/// The progress of the import of a file of registrations into a hub.
package struct HubImportProgress: Sendable, Hashable {
    /// When the file was written. A later change in the hub is newer than the file.
    package var exportedAt: Timestamp
    /// How many bytes and lines of the file are imported.
    package var bytes: Int = 0
    package var lines: Int = 0
    package var counts = HubImportCounts()

    package init(exportedAt: Timestamp) { self.exportedAt = exportedAt }
}

/// The results for the registrations of a file.
package struct HubImportCounts: Sendable, Hashable {
    /// Stored, some in place of older ones.
    package var imported = 0
    /// Stored earlier by the same import.
    package var unchanged = 0
    /// The hub has a newer entry of the same registration, installation or device.
    package var newer = 0
    /// A client of the hub has deleted the registration.
    package var deleted = 0
    package var expired = 0
    /// Not readable, or not valid.
    package var bad = 0
    /// Those of platforms that the hub has no push service for, by the platform.
    package var otherPlatforms: [String: Int] = [:]

    package init() {}

    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        for (_, path) in names { sum[keyPath: path] += right[keyPath: path] }
        sum.otherPlatforms.merge(right.otherPlatforms, uniquingKeysWith: +)
        return sum
    }

    private static let names: [(String, any WritableKeyPath<Self, Int> & Sendable)] = [
        ("imported", \.imported), ("unchanged", \.unchanged), ("newer", \.newer), ("deleted", \.deleted),
        ("expired", \.expired), ("bad", \.bad),
    ]

    private static let platform = "platform "

    /// A line for each count that is not 0.
    var text: String {
        let lines = Self.names.map { ($0, self[keyPath: $1]) } + otherPlatforms.map { (Self.platform + $0, $1) }
        return lines.filter { $0.1 != 0 }.map { "\($0) \($1)\n" }.joined()
    }

    /// Reads ``text``. Lines of later versions are left out.
    init(text: String) {
        for line in OutsideText.lines(text) {
            guard let blank = line.lastIndex(of: " "), let count = Int(line[line.index(after: blank)...]) else {
                continue
            }
            let name = String(line[..<blank])
            if let (_, path) = Self.names.first(where: { $0.0 == name }) {
                self[keyPath: path] = count
            } else if name.hasPrefix(Self.platform) {
                otherPlatforms[String(name.dropFirst(Self.platform.count))] = count
            }
        }
    }
}

/// The next lines of a file, which are stored in one transaction.
package struct HubImportBatch: Sendable {
    /// The parts of one installation that are among the lines.
    package struct Installation: Sendable {
        package typealias Make =
            @Sendable (HubInstallationRow?) throws -> (row: HubInstallationRow, parts: [HubRegistrationRow])

        /// In lower case.
        package var id: String
        /// How many lines are its parts.
        package var lines: Int
        package var handles: Set<String>
        /// The IDs of its registrations by their slots, as the file has them.
        package var ids: [String: String]
        /// Gets the installation that earlier lines have made, and returns the new one. It may be called again.
        package var make: Make

        package init(id: String, lines: Int, handles: Set<String>, ids: [String: String], make: @escaping Make) {
            (self.id, self.lines, self.handles, self.ids, self.make) = (id, lines, handles, ids, make)
        }
    }

    /// The start of the lines; `bytes` must be the end of the last batch.
    package var start: HubImportProgress
    /// The end of the lines, in bytes and lines from the start of the file.
    package var endBytes: Int
    package var endLines: Int
    /// The registrations that are not parts of an installation.
    package var registrations: [HubRegistrationRow] = []
    package var installations: [Installation] = []
    /// The counts of lines that are not stored.
    package var counts = HubImportCounts()

    package init(start: HubImportProgress) {
        (self.start, endBytes, endLines) = (start, start.bytes, start.lines)
    }

    var weight: Int { max(1, registrations.count + 2 * installations.reduce(0) { $0 + $1.lines }) }
    var heldBytes: Int { registrations.reduce(0) { $0 + $1.heldBytes } + 4096 * installations.count }
}

/// How a batch was stored.
package struct HubImportResult: Sendable, Hashable {
    package var progress: HubImportProgress
    /// The IDs of installations whose lines contradict each other. They are counted as bad.
    package var refused: [String] = []
}
