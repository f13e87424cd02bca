/// Checks the chain of an audit log, line by line.
///
/// A line that was changed, added or removed breaks the chain. The chain has no key: somebody who can write the file
/// can replace its end, or all of it, by another chain. Keep ``Report/head`` in another place, and look for it later
/// (``Report/isFound``): all lines up to it are proved to be unchanged.
package struct AuditVerifier: Sendable {
    /// What was found so far.
    package struct Report: Sendable, Equatable {
        package var lines = 0
        /// The lines that a process did not complete before it ended. They are part of the chain.
        package var incomplete = 0
        /// The places where a new chain begins after the first line, if ``AuditVerifier/allowsRestarts``.
        package var restarts = 0
        /// The time of the first line, as it is there.
        package var first: String?
        /// The time of the last line, as it is there.
        package var last: String?
        /// The hash of the last line.
        package var head = AuditHash.none
        /// The `prev` of the first line; another than zeros continues an earlier file.
        package var earlier = AuditHash.none
        /// Whether a line has the hash that was looked for.
        package var isFound = false
        /// The first fault. The lines after it are not checked.
        package var fault: String?
    }

    package private(set) var report = Report()
    /// The hash of a line that must be there; `nil` if none is looked for.
    private let wanted: AuditHash?
    /// Whether later lines may begin a new chain, as with standard output, where every process begins one.
    private let allowsRestarts: Bool

    /// A longer line is a fault. The unit is bytes.
    package static let maxLine = 65_536

    package init(wanted: AuditHash? = nil, allowsRestarts: Bool = false) {
        (self.wanted, self.allowsRestarts) = (wanted, allowsRestarts)
    }

    /// Checks the next line.
    ///
    /// - Parameters:
    ///   - line: without its line feed.
    ///   - place: the file and the number of the line, for the report.
    package mutating func check(_ line: [UInt8], at place: @autoclosure () -> String) {
        guard report.fault == nil else { return }
        guard line.count <= Self.maxLine else { return report.fault = "\(place()): The line is longer than 64 KiB." }
        let members = (try? JSONValue(strict: line)).flatMap { $0.members == nil ? nil : $0 }
        if let members {
            guard let previous = members["prev"]?.text.flatMap({ AuditHash($0) }) else {
                return report.fault = "\(place()): The line has no `prev`, so it is not a line of an audit log."
            }
            join(previous, at: place())
            guard report.fault == nil else { return }
            let time = members["time"]?.text
            report.first = report.first ?? time
            report.last = time ?? report.last
        } else {
            guard report.lines > 0 else { return report.fault = "\(place()): This is not a line of an audit log." }
            report.incomplete += 1
        }
        report.lines += 1
        report.head = AuditHash(of: line)
        if report.head == wanted { report.isFound = true }
    }

    private mutating func join(_ previous: AuditHash, at place: @autoclosure () -> String) {
        if report.lines == 0 {
            report.earlier = previous
            if previous == wanted { report.isFound = true }
        } else if previous != report.head {
            guard previous == .none else {
                return report.fault =
                    "\(place()): `prev` is not the hash of the line before. "
                    + "The line before was changed, or lines were added or removed between the two."
            }
            guard allowsRestarts else {
                return report.fault =
                    "\(place()): A new chain begins. Lines before it may be missing at the end of the old one. "
                    + "--allow-restarts accepts this for a log that was captured from standard output."
            }
            report.restarts += 1
        }
    }
}
