import Foundation
import SecurePushCore

/// Builds HTML and SVG as text. Everything that is not markup of ours is escaped.
enum HTML {
    /// Text for an element or a quoted attribute, without control characters.
    static func escape(_ text: String) -> String { HTMLText.escape(text.oneLine) }

    /// A table whose first row and first column are headings; numbers are to the right.
    static func table(_ caption: String, _ rows: [[String]], isOfWords: Bool = false) -> String {
        var html = "<table\(isOfWords ? " class=\"words\"" : "")><caption>\(escape(caption))</caption>\n"
        for (index, row) in rows.enumerated() {
            let cells = row.enumerated().map { column, cell in
                if index == 0 { return "<th scope=\"col\">\(escape(cell))</th>" }
                return column == 0 ? "<th scope=\"row\">\(escape(cell))</th>" : "<td>\(escape(cell))</td>"
            }
            let line = "<tr>\(cells.joined())</tr>\n"
            html += index == 0 ? "<thead>\(line)</thead><tbody>\n" : line
        }
        return html + (rows.isEmpty ? "" : "</tbody>") + "</table>\n"
    }

    /// A number in an attribute, with one decimal place.
    static func number(_ value: Double) -> String {
        let rounded = (value * 10).rounded() / 10
        return rounded == rounded.rounded() ? "\(Int(clampingRounded: rounded))" : "\(rounded)"
    }
}
