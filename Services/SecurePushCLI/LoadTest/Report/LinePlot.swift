import Foundation

/// A plot of lines as inline SVG, with a title and a description for those who do not see it.
struct LinePlot: Sendable {
    struct Series: Sendable {
        var name: String
        /// Selects the colour, from 0.
        var colour: Int
        /// Of the earlier test: drawn with dashes.
        var isEarlier = false
        /// Fills the area below the line.
        var isFilled = false
        var points: [(x: Double, y: Double)]
    }

    var title: String
    /// The sentence that says what the plot shows.
    var summary: String
    var xLabel: String
    var yLabel: String
    var x: PlotScale
    var y: PlotScale
    var series: [Series]

    private static let width = 720.0
    private static let height = 270.0
    private static let left = 64.0
    private static let right = 16.0
    private static let top = 26.0
    private static let bottom = 44.0

    /// - Parameter id: unique in the page.
    func svg(id: String) -> String {
        let (width, height) = (HTML.number(LinePlot.width), HTML.number(LinePlot.height))
        var svg = "<svg viewBox=\"0 0 \(width) \(height)\" role=\"img\" aria-labelledby=\"\(id)-title \(id)-desc\">\n"
        svg += "<title id=\"\(id)-title\">\(HTML.escape(title))</title>\n"
        svg += "<desc id=\"\(id)-desc\">\(HTML.escape(description))</desc>\n"
        svg += grid
        for line in series where line.isFilled && !line.isEarlier { svg += area(line) }
        for line in series.sorted(by: { $0.isEarlier && !$1.isEarlier }) { svg += path(line) }
        return svg + "</svg>\n"
    }

    /// The names of the lines with their strokes.
    var legend: String {
        let items = series.map { line in
            "<li><svg class=\"key\" viewBox=\"0 0 28 10\" aria-hidden=\"true\"><path class=\"\(strokeClass(line))\" "
                + "d=\"M1 5H27\"/></svg>\(HTML.escape(line.name))</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>\n"
    }

    private var description: String {
        let ranges = series.map { line in
            let values = line.points.map(\.y)
            let (least, most) = (values.min() ?? 0, values.max() ?? 0)
            return "\(line.name): \(LinePlot.label(least)) to \(LinePlot.label(most))."
        }
        return ([summary] + ranges + ["The table below the plot has the values."]).joined(separator: " ")
    }

    private var grid: String {
        var svg = ""
        let (begin, end) = (HTML.number(LinePlot.left), HTML.number(LinePlot.width - LinePlot.right))
        for tick in y.ticks {
            let height = vertical(tick)
            svg += "<path class=\"grid\" d=\"M\(begin) \(HTML.number(height))H\(end)\"/>"
            svg +=
                "<text class=\"y\" x=\"\(HTML.number(LinePlot.left - 8))\" y=\"\(HTML.number(height + 4))\">"
                + "\(LinePlot.label(tick))</text>\n"
        }
        let base = LinePlot.height - LinePlot.bottom
        for tick in x.ticks {
            let place = HTML.number(horizontal(tick))
            svg += "<path class=\"tick\" d=\"M\(place) \(HTML.number(base))v5\"/>"
            svg += "<text class=\"x\" x=\"\(place)\" y=\"\(HTML.number(base + 19))\">\(LinePlot.label(tick))</text>\n"
        }
        svg += "<text class=\"unit\" x=\"\(HTML.number(LinePlot.left - 52))\" y=\"14\">\(HTML.escape(yLabel))</text>"
        svg +=
            "<text class=\"x unit\" x=\"\(HTML.number((LinePlot.left + LinePlot.width - LinePlot.right) / 2))\" "
            + "y=\"\(HTML.number(LinePlot.height - 8))\">\(HTML.escape(xLabel))</text>\n"
        return svg
    }

    private func path(_ line: Series) -> String {
        guard let first = line.points.first else { return "" }
        guard line.points.count > 1 else {
            let (x, y) = (HTML.number(horizontal(first.x)), HTML.number(vertical(first.y)))
            return "<circle class=\"dot\(line.colour)\" cx=\"\(x)\" cy=\"\(y)\" r=\"3.5\"/>\n"
        }
        return "<path class=\"\(strokeClass(line))\" d=\"\(commands(line))\"/>\n"
    }

    private func area(_ line: Series) -> String {
        guard let first = line.points.first, let last = line.points.last, line.points.count > 1 else { return "" }
        let base = HTML.number(LinePlot.height - LinePlot.bottom)
        return "<path class=\"area\(line.colour)\" d=\"\(commands(line))L\(HTML.number(horizontal(last.x))) \(base)"
            + "L\(HTML.number(horizontal(first.x))) \(base)Z\"/>\n"
    }

    private func commands(_ line: Series) -> String {
        line.points.enumerated().map { index, point in
            "\(index == 0 ? "M" : "L")\(HTML.number(horizontal(point.x))) \(HTML.number(vertical(point.y)))"
        }.joined()
    }

    private func strokeClass(_ line: Series) -> String { "line\(line.colour)" + (line.isEarlier ? " earlier" : "") }

    private func horizontal(_ value: Double) -> Double {
        LinePlot.left + x.position(value) * (LinePlot.width - LinePlot.left - LinePlot.right)
    }

    private func vertical(_ value: Double) -> Double {
        LinePlot.height - LinePlot.bottom - y.position(value) * (LinePlot.height - LinePlot.top - LinePlot.bottom)
    }

    /// A tick or a value: as few digits as it needs.
    static func label(_ value: Double) -> String {
        if abs(value) >= 1000 { return Int(clampingRounded: value).grouped }
        let text = String(format: abs(value) < 1 ? "%.3f" : "%.2f", value)
        guard text.contains(".") else { return text }
        let trimmed = text.reversed().drop { $0 == "0" }.drop { $0 == "." }
        return String(trimmed.reversed())
    }
}
