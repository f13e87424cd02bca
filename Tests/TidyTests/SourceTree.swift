import Foundation
import TestSupport

/// The Swift sources of the checkout, as the house rules see them.
struct SourceFile: Sendable, CustomStringConvertible {
    /// From the root of the checkout, with `/`.
    let path: String
    let lines: [String]

    var description: String { path }

    /// The folder that makes a module: `Shared/AMQP`, `Services/Ingest`, `Tests/TidyTests`, `Clients/Swift`.
    var module: String { path.split(separator: "/").prefix(2).joined(separator: "/") }

    /// The modules that the file imports. An indented import is one of another language, in a string.
    var imports: [String] {
        lines.filter { !$0.hasPrefix(" ") }.compactMap { line in
            var words = line.split(separator: " ")[...]
            while let first = words.first, first.hasPrefix("@") || Self.accessLevels.contains(String(first)) {
                words.removeFirst()
            }
            guard words.first == "import", let name = words.dropFirst().last else { return nil }
            return String(name.prefix { $0 != "." })
        }
    }

    private static let accessLevels: Set<String> = ["public", "package", "internal", "fileprivate", "private"]

    static let all: [SourceFile] = ["Clients", "Shared", "Services", "Tests", "Tools"].flatMap(files(under:))

    static let production = all.filter { file in
        ["Shared/", "Services/", "Clients/Swift/Sources/"].contains(where: file.path.hasPrefix)
    }

    private static func files(under folder: String) -> [SourceFile] {
        let root = TestEnvironment.packageRoot
        guard
            let walker = FileManager.default.enumerator(
                at: root.appending(path: folder), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        else { return [] }
        return walker.compactMap { element in
            guard let url = element as? URL, url.pathExtension == "swift",
                let text = try? String(contentsOf: url, encoding: .utf8)
            else { return nil }
            let path = String(url.path.dropFirst(root.path.count)).drop { $0 == "/" }
            return SourceFile(path: String(path), lines: text.components(separatedBy: "\n"))
        }
    }
}
