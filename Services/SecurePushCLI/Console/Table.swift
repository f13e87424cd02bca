import ArgumentParser
import Foundation
import Foundations
import ServiceRuntime

struct Column<Row>: Sendable {
    /// How a table that is too wide for the terminal is narrowed, in the order of the numbers.
    enum Narrowing: Sendable {
        case stays
        case leftOut(Int)
        /// Cells are cut off, but to no less than this width.
        case cut(Int, to: Int)

        fileprivate var order: Int? {
            switch self {
            case .stays: nil
            case .leftOut(let order), .cut(let order, _): order
            }
        }
    }

    let title: String
    /// Reserved, so that a list has the same columns on every page.
    var width = 0
    var whenNarrow = Narrowing.stays
    var isNumber = false
    /// Whether cells are times in RFC 3339, which become relative before anything else is given up.
    var isTime = false
    /// A dash stands for `nil`.
    let cell: @Sendable (Row) -> String?

    init(
        _ title: String, width: Int = 0, _ whenNarrow: Narrowing = .stays, isNumber: Bool = false,
        isTime: Bool = false, cell: @escaping @Sendable (Row) -> String?
    ) {
        (self.title, self.width, self.whenNarrow, self.cell) = (title, width, whenNarrow, cell)
        (self.isNumber, self.isTime) = (isNumber, isTime)
    }
}

/// Rows in aligned columns, two spaces apart. The rows may come page by page.
struct Table<Row> {
    private let columns: [Column<Row>]
    /// `nil` if lines may have any length.
    private let width: Int?
    private let now: Timestamp
    /// Whether no page had a row.
    private(set) var isEmpty = true
    /// How many of ``steps`` made the pages so far fit. Later pages take them too.
    private var taken = 0

    init(_ columns: [Column<Row>], width: Int? = nil, now: Timestamp = .now) {
        (self.columns, self.width, self.now) = (columns, width, now)
    }

    /// Whether everything is given up that can be.
    var isNarrowest: Bool { taken == steps.count }

    /// The lines of a page without trailing spaces, the first time below the titles; none without rows.
    mutating func lines(_ rows: [Row]) -> [String] {
        if rows.isEmpty { return [] }
        var shown = columns.map { column -> [String]? in
            [column.title.filled(to: column.width)] + rows.map { column.cell($0)?.oneLine ?? "-" }
        }
        if let width {
            for (number, step) in steps.enumerated() where number < taken || Self.width(shown) > width {
                taken = max(taken, number + 1)
                take(step, rows, width, &shown)
            }
        }
        let lines = joined(shown, count: rows.count + 1)
        defer { isEmpty = false }
        return isEmpty ? lines : Array(lines.dropFirst())
    }

    private enum Step { case relative, leftOut, cut(to: Int) }

    private var steps: [(column: Int, step: Step)] {
        let times = columns.indices.filter { columns[$0].isTime }.map { (column: $0, step: Step.relative) }
        let others = columns.indices.filter { columns[$0].whenNarrow.order != nil }
            .sorted { (columns[$0].whenNarrow.order ?? 0) < (columns[$1].whenNarrow.order ?? 0) }
        return times
            + others.map { column in
                if case .cut(_, let least) = columns[column].whenNarrow { return (column, .cut(to: least)) }
                return (column, .leftOut)
            }
    }

    private func take(_ step: (column: Int, step: Step), _ rows: [Row], _ width: Int, _ shown: inout [[String]?]) {
        let column = columns[step.column]
        switch step.step {
        case .relative:
            let times = rows.map { row in column.cell(row).map { RelativeTime.text($0, now: now) } ?? "-" }
            shown[step.column] = [column.title.filled(to: 8)] + times
        case .leftOut: shown[step.column] = nil
        case .cut(let least):
            let excess = max(0, Self.width(shown) - width)
            shown[step.column] = shown[step.column].map { cells in
                cells.map { $0.cut(to: max(least, Self.width(of: cells) - excess)) }
            }
        }
    }

    private func joined(_ shown: [[String]?], count: Int) -> [String] {
        let parts = zip(columns, shown).compactMap { column, cells -> [String]? in
            guard let cells else { return nil }
            let width = Self.width(of: cells)
            return cells.map { column.isNumber ? $0.filledBefore(to: width) : $0.filled(to: width) }
        }
        return (0..<count).map { row in
            var line = parts.map { $0[row] }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private static func width(_ shown: [[String]?]) -> Int {
        let widths = shown.compactMap { $0.map(width(of:)) }
        return widths.reduce(0, +) + 2 * max(0, widths.count - 1)
    }

    private static func width(of cells: [String]) -> Int { cells.map(\.count).max() ?? 0 }
}

enum Facts {
    /// - Parameters:
    ///   - facts: those without a value are left out.
    ///   - styled: a value in a style.
    static func lines(
        _ facts: [(name: String, value: String?)], styled: (_ name: String, _ value: String) -> String = { $1 }
    ) -> [String] {
        let shown = facts.compactMap { fact in fact.value.map { (fact.name, styled(fact.name, $0.oneLine)) } }
        let width = shown.map(\.0.count).max() ?? 0
        return shown.map { $0.filled(to: width) + "  " + $1 }
    }
}

/// Whether a table may be made narrower to fit the terminal.
struct TableOptions: ParsableArguments {
    @Flag(help: "Print whole tables, even if the lines are longer than the terminal is wide.")
    var wide = false

    /// The width that tables must fit; `nil` without a terminal.
    var width: Int? { wide ? nil : Terminal.columns(of: STDOUT_FILENO) }
}

extension String {
    /// The text, or its beginning with an ellipsis if it has more characters.
    func cut(to width: Int) -> String { count <= width ? self : prefix(max(0, width - 1)) + "…" }

    /// The text with escapes for invisible characters except newline and tab, so that a payload cannot control the
    /// terminal, and so that no name looks like another one.
    var printable: String { OutsideText.visible(self) }

    /// ``printable`` on one line, for a cell of a table.
    var oneLine: String {
        String(String.UnicodeScalarView(printable.unicodeScalars.map { $0 == "\n" || $0 == "\t" ? " " : $0 }))
    }

    func filled(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    func filledBefore(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    /// The text followed by spaces up to a width, and at least one.
    func padded(to width: Int) -> String { count < width ? filled(to: width) : self + " " }

    /// The words of the text on lines of at most `width` characters, unless a word is longer. All lines but the first
    /// are indented by two.
    func wrapped(after first: String, to width: Int) -> [String] {
        split(separator: " ").reduce(into: [first]) { lines, word in
            let line = lines[lines.count - 1]
            if line.count + 1 + word.count > width {
                lines.append("  " + word)
            } else {
                lines[lines.count - 1] = line + " " + word
            }
        }
    }

    /// The text without its last line end, if it has one.
    var droppingLineEnd: String {
        var bytes = utf8[...]
        guard bytes.last == UInt8(ascii: "\n") else { return self }
        bytes.removeLast()
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(Substring(bytes))
    }
}

extension Int {
    /// With a comma between groups of three digits: `1,000,000`.
    var grouped: String {
        var text = String(magnitude)
        var position = text.count - 3
        while position > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: position))
            position -= 3
        }
        return self < 0 ? "-" + text : text
    }
}

extension Double {
    /// A rate or an amount: one decimal place below 100, a grouped whole number above.
    var figure: String {
        guard isFinite, abs(self) < 1e15 else { return "-" }
        return abs(self) < 100 ? String(format: "%.1f", self) : Int(rounded()).grouped
    }

    func rounded(toPlaces places: Int) -> Double {
        let factor = pow(10, Double(places))
        return (self * factor).rounded() / factor
    }
}

extension Duration {
    /// In seconds, with the precision of a `Double`.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

    /// For people: `1.25 s`, `42 s`, `3 min 05 s`, `2 h 07 min`.
    var spoken: String {
        let seconds = inSeconds
        if seconds < 10 { return String(format: "%.2f s", max(0, seconds)) }
        let whole = Int(seconds.rounded())
        if whole < 120 { return "\(whole) s" }
        if whole < 7200 { return String(format: "%d min %02d s", whole / 60, whole % 60) }
        return String(format: "%d h %02d min", whole / 3600, whole / 60 % 60)
    }
}
