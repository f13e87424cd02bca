import ArgumentParser
import Foundation
import SecurePushCore
import ServiceRuntime

/// Rows of cells in aligned columns, two spaces apart: words to the left, numbers to the right.
struct TextTable: Sendable {
    /// A step that makes a table narrower. Columns keep their numbers when others are left out.
    enum Narrowing: Sendable {
        /// Other cells for a column: the header, then one per row.
        case replace(column: Int, cells: [String])
        case leaveOut(column: Int)
        /// Cuts the cells of a column off, but to no less than this width.
        case cut(column: Int, to: Int)
    }

    private var rows: [[String]] = []
    /// Whether all columns hold words; otherwise only the first does.
    private let isOfWords: Bool
    private var leftOut: Set<Int> = []

    init(isOfWords: Bool = false) { self.isOfWords = isOfWords }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// Takes the steps, in their order, until the table fits.
    ///
    /// - Parameters:
    ///   - width: the width of the terminal; `nil` if lines may have any length.
    ///   - least: the number of steps to take in any case, as for an earlier page of the same list.
    /// - Returns: the number of steps that were taken.
    @discardableResult
    mutating func fit(_ width: Int?, _ steps: [Narrowing], atLeast least: Int = 0) -> Int {
        guard let width else { return 0 }
        var taken = 0
        for step in steps where taken < least || self.width > width {
            taken += 1
            switch step {
            case .replace(let column, let cells):
                for (row, cell) in zip(rows.indices, cells) where rows[row].indices.contains(column) {
                    rows[row][column] = cell
                }
            case .leaveOut(let column): leftOut.insert(column)
            case .cut(let column, let least):
                let room = max(least, widths[column] - max(0, self.width - width))
                for row in rows.indices where rows[row].indices.contains(column) {
                    rows[row][column] = rows[row][column].cut(to: room)
                }
            }
        }
        return taken
    }

    /// The length of the longest line.
    var width: Int {
        let shown = widths.enumerated().filter { !leftOut.contains($0.offset) }.map(\.element)
        return shown.reduce(0, +) + 2 * max(0, shown.count - 1)
    }

    private var widths: [Int] {
        (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
    }

    /// One line per row, without trailing spaces.
    var lines: [String] {
        let widths = widths
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() where !leftOut.contains(column) {
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? "" : "  "
                line += column == 0 || isOfWords ? cell + blanks : blanks + cell
            }
            while line.last == " " { line.removeLast() }
            return line
        }
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

    /// The text followed by spaces up to a width, and at least one.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }

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
