/// Finds the name that a mistyped one may stand for.
package enum NameSuggestion {
    /// The known name with the smallest edit distance, if that is small: at most a third of the name's length, and at
    /// most 3.
    ///
    /// - Parameters:
    ///   - name: as it was typed. Names above 100 bytes have no suggestion.
    ///   - known: the names that exist.
    package static func closest(to name: String, in known: [String]) -> String? {
        guard name.utf8.count <= 100 else { return nil }
        let limit = min(3, name.count / 3)
        let candidates = known.map { (name: $0, distance: distance(name, $0)) }.filter { $0.distance <= limit }
        return candidates.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }

    /// The number of characters to insert, delete or replace, and of neighbours to swap (optimal string alignment).
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        var (before, row) = ([Int](), Array(0...second.count))
        for (line, byte) in first.enumerated() {
            var next = [line + 1]
            for (column, other) in second.enumerated() {
                var least = min(row[column] + (byte == other ? 0 : 1), next[column] + 1, row[column + 1] + 1)
                if line > 0, column > 0, byte == second[column - 1], other == first[line - 1] {
                    least = min(least, before[column - 1] + 1)
                }
                next.append(least)
            }
            (before, row) = (row, next)
        }
        return row[second.count]
    }
}
