import Foundation

/// Rows of cells in aligned columns, two spaces apart: words to the left, numbers to the right.
struct TextTable: Sendable {
    private var rows: [[String]] = []
    /// Whether all columns hold words; otherwise only the first does.
    private let isOfWords: Bool

    init(isOfWords: Bool = false) { self.isOfWords = isOfWords }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// One line per row, without trailing spaces.
    var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? "" : "  "
                line += column == 0 || isOfWords ? cell + blanks : blanks + cell
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

extension String {
    /// The text without control characters except newline and tab, so that a payload cannot control the terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                    return isControl && scalar != "\n" && scalar != "\t" ? "\u{FFFD}" : scalar
                }))
    }

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
