/// Rows of cells in aligned columns, two spaces apart: words to the left, numbers to the right.
struct TextTable: Sendable {
    private var rows: [[String]] = []
    /// Whether all columns hold words; otherwise only the first does.
    private let isOfWords: Bool

    init(isOfWords: Bool = false) { self.isOfWords = isOfWords }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// One line per row, without trailing spaces.
    var lines: [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = zip(row, widths).enumerated().map { column, cell in
                column == 0 || isOfWords ? cell.0.filled(to: cell.1) : cell.0.filledBefore(to: cell.1)
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
