import Foundation

/// Writes the test vectors of the SDKs: `vectors write FOLDER`, or compares them: `vectors check FOLDER`. `vectors
/// record FOLDER OBSERVATIONS` writes the expectations of scenarios: what the Swift SDK did. The folder is
/// `Clients/vectors`; its README.md describes the files.
///
/// Decision: docs/decisions/0032-scenarios-recorded-with-the-swift-sdk.md
@main
struct VectorsCommand {
    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            // An error that leaves `main` is a trap.
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(error is Usage ? 64 : 1)
        }
    }

    static func run(_ arguments: [String]) throws {
        guard arguments.count >= 2 else { throw Usage() }
        let folder = arguments[1]
        var files = try VectorFile.all(folder)
        switch (arguments[0], arguments.count) {
        case ("write", 2): try files.forEach { try $0.write(to: folder) }
        case ("check", 2):
            for file in files where try !file.isCurrent(in: folder) { throw Stale(name: file.name) }
        case ("record", 3):
            files = try VectorFile.scenarioNames.map { name in
                try VectorFile(name, in: folder).recording(Data(contentsOf: URL(filePath: "\(arguments[2])/\(name)")))
            }
            try files.forEach { try $0.write(to: folder) }
        default: throw Usage()
        }
        for file in files { print("\(file.name): \(file.count) cases") }
    }

    struct Usage: Error, CustomStringConvertible {
        var description: String {
            "usage: vectors write FOLDER | vectors check FOLDER | vectors record FOLDER OBSERVATIONS"
        }
    }

    struct Stale: Error, CustomStringConvertible {
        let name: String
        var description: String { "\(name) is not what the generator makes. Run `vectors write`." }
    }
}
