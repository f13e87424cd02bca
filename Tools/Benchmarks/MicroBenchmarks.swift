import Foundation

/// Repeats one operation of a hot path, for `make bench`: `micro-benchmarks list`, or `micro-benchmarks NAME [COUNT]`.
///
/// scripts/bench.sh runs it under callgrind, which writes what was counted at each call of ``mark()``. So neither the
/// start of the process nor the first repetitions are part of a figure, and each run gives two figures to compare.
@main
struct MicroBenchmarks {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first else { throw Usage() }
        if name == "list" {
            for operation in Operation.all { print(operation.name, operation.count) }
            return
        }
        guard let operation = Operation.all.first(where: { $0.name == name }) else { throw Usage() }
        let count = try arguments.dropFirst().first.map { text in
            guard let count = Int(text), count > 0 else { throw Usage() }
            return count
        }
        let folder = try TemporaryFolder()
        let body = try await operation.prepare(folder)
        try await run(body, count: count ?? operation.count)
        folder.remove()
        // Services still run. Nothing of them is needed any more.
        exit(0)
    }

    private static func run(_ body: Operation.Body, count: Int) async throws {
        try await body(max(16, count / 4))
        mark()
        try await body(count)
        mark()
        try await body(count)
        mark()
    }
}

/// Where callgrind writes what was counted since the last call; measure.py has its name.
@inline(never) @_optimize(none)
func mark() {}

/// The arguments are wrong.
struct Usage: Error, CustomStringConvertible {
    var description: String { "usage: micro-benchmarks list | NAME [COUNT]" }
}

/// An operation does not do what is to be measured.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A folder for the files of keys.
struct TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "securepush-bench-\(getpid())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file that only this user can read, and returns its path.
    func file(_ name: String, _ text: String) throws -> String {
        let path = path(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
