extension ConfigurationParser where Value == [String] {
    /// A comma-separated list; spaces around the items do not count, empty items are refused.
    public static var list: Self { list(of: .string, hint: "LIST") }
}

extension ConfigurationParser {
    /// A comma-separated list of values, at least one; spaces around the items do not count.
    public static func list<Element>(of element: ConfigurationParser<Element>, hint: String) -> Self
    where Value == [Element] {
        ConfigurationParser(hint: hint) { text throws(ConfigurationRefusal) in
            var values: [Element] = []
            for item in text.split(separator: ",", omittingEmptySubsequences: false) {
                let item = item.trimmingSpaces
                guard !item.isEmpty else { throw ConfigurationRefusal("has an empty item") }
                do throws(ConfigurationRefusal) {
                    values.append(try element.parse(String(item)))
                } catch {
                    throw ConfigurationRefusal("has an item that \(error.problem)")
                }
            }
            return values
        }
    }
}

extension Substring {
    /// Without the white space at either end.
    var trimmingSpaces: Substring {
        var rest = self
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
