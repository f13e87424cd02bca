/// Rows of cells in aligned columns, two blanks apart: words to the left, figures to the right.
struct TextTable: Sendable {
    private var rows: [[String]] = []
    /// Whether all columns hold words; else only the first.
    private let isOfWords: Bool

    init(isOfWords: Bool = false) { self.isOfWords = isOfWords }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// One text a row, without blanks at its end.
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
