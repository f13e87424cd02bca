import Foundation

/// Measures functions and initialisers by their braces; those within string literals do not count.
enum FunctionLengths {
    struct Function {
        /// Where it begins, from 1.
        let line: Int
        let length: Int
    }

    static func of(_ lines: [String]) -> [Function] {
        var functions: [Function] = []
        var open: [(line: Int, depth: Int)] = []
        var depth = 0
        var pending: Int?
        var isInText = false
        for (number, line) in lines.enumerated() {
            // A multi-line string begins and ends with a line that has its quotes once.
            if line.components(separatedBy: "\"\"\"").count == 2 {
                isInText.toggle()
                continue
            }
            if isInText { continue }
            if startsFunction(line) { pending = number }
            for character in withoutStrings(line) {
                if character == "{" {
                    if let line = pending {
                        open.append((line, depth))
                        pending = nil
                    }
                    depth += 1
                } else if character == "}" {
                    depth -= 1
                    if let last = open.last, last.depth == depth {
                        functions.append(Function(line: last.line + 1, length: number - last.line + 1))
                        open.removeLast()
                    }
                }
            }
        }
        return functions
    }

    private static func withoutStrings(_ line: String) -> String {
        line.replacing(/#".*?"#|"(?:\\.|[^"\\])*"/, with: "")
    }

    private static func startsFunction(_ line: String) -> Bool {
        let words = line.split(separator: " ").prefix(6)
        return words.contains("func")
            || words.contains { $0.hasPrefix("init(") || $0.hasPrefix("init?(") }
                && !line.contains(".init(") && !line.contains("self.init(")
    }
}
