import Foundation

/// Writes the test vectors of the SDKs: `vectors write FOLDER`, or compares them: `vectors check FOLDER`. The folder is
/// `Clients/vectors`; its README.md describes the files.
@main
struct VectorsCommand {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let verb = arguments.first, let folder = arguments.last else { throw Usage() }
        let files = try VectorFile.all()
        switch verb {
        case "write":
            for file in files {
                try file.text.write(toFile: "\(folder)/\(file.name)", atomically: true, encoding: .utf8)
            }
        case "check":
            for file in files where try !file.isCurrent(in: folder) { throw Stale(name: file.name) }
        default: throw Usage()
        }
        for file in files { print("\(file.name): \(file.count) cases") }
    }

    struct Usage: Error, CustomStringConvertible {
        var description: String { "usage: vectors write FOLDER | vectors check FOLDER" }
    }

    struct Stale: Error, CustomStringConvertible {
        let name: String
        var description: String { "\(name) is not what the generator makes. Run `vectors write`." }
    }
}
