/// What a history comes to: figures, and the bars that they are held against.
package struct Verdict: Codable, Sendable, Equatable {
    package struct Row: Codable, Sendable, Equatable {
        package var name: String
        package var value: String
        /// What is allowed; `nil` for a figure that nothing is asked of.
        package var limit: String?
        package var passes: Bool?
    }

    package var seed: UInt64?
    /// How often each fault was done.
    package var faults: [String: Int]
    package private(set) var rows: [Row] = []
    /// What stands behind a bar that failed.
    package private(set) var remarks: [String] = []

    init(seed: UInt64?, faults: [String: Int]) {
        self.seed = seed
        self.faults = faults
    }

    /// Whether every bar is met.
    package var passes: Bool { rows.allSatisfy { $0.passes ?? true } }

    /// The row of a name.
    package func row(_ name: String) -> Row? { rows.first { $0.name == name } }

    /// The names of the bars that are not met.
    package var failures: [String] { rows.filter { $0.passes == false }.map(\.name) }

    /// The table for people.
    package var text: String {
        let width = rows.map(\.name.count).max() ?? 0
        let value = rows.map(\.value.count).max() ?? 0
        let limit = rows.map { $0.limit?.count ?? 0 }.max() ?? 0
        var lines = rows.map { row in
            let mark = row.passes.map { $0 ? "PASS" : "FAIL" } ?? ""
            let line =
                "  " + row.name.padded(to: width + 2) + row.value.padded(to: value + 2)
                + (row.limit ?? "").padded(to: limit + 2) + mark
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
        lines += remarks.prefix(20).map { "  ! \($0)" }
        lines.append("")
        let result = passes ? "PASS" : "FAIL (\(failures.joined(separator: "; ")))"
        lines.append("seed \(seed.map(String.init) ?? "unknown"): \(result)")
        return lines.joined(separator: "\n")
    }

    mutating func note(_ name: String, _ value: Int) { note(name, "\(value)") }

    mutating func note(_ name: String, _ value: String) { rows.append(Row(name: name, value: value)) }

    mutating func bar(_ name: String, _ value: Int, _ limit: String, _ passes: Bool) {
        bar(name, "\(value)", limit, passes)
    }

    mutating func bar(_ name: String, _ value: String, _ limit: String, _ passes: Bool) {
        rows.append(Row(name: name, value: value, limit: limit, passes: passes))
    }

    mutating func remark(_ text: String) { remarks.append(text) }

    static func percent(_ share: Double) -> String {
        let hundredths = Int((share * 10_000).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) %"
    }

    static func seconds(_ milliseconds: Int64) -> String {
        "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }

    static func size(_ bytes: Int) -> String {
        let tenths = bytes / 100_000
        return bytes < 1_000_000 ? "\(bytes / 1000) kB" : "\(tenths / 10).\(tenths % 10) MB"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
