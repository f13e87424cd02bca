import Foundation

/// The repository's scripts that start and kill servers.
struct Scripts: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let script: String
        let output: String
        var description: String { "\(script) failed: \(output)" }
    }

    let folder: URL
    let temporary: URL

    func has(_ name: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: folder.appending(path: name).path)
    }

    /// Runs a script to its end, within two minutes, and gives what it wrote.
    @discardableResult
    func run(_ name: String, _ arguments: [String]) async throws -> String {
        try await bash([folder.appending(path: name).path] + arguments, name: "\(name) \(arguments.first ?? "")")
    }

    /// The first of so many free ports in a row.
    func freePorts(_ count: Int) async throws -> Int {
        let ports = folder.appending(path: "ports.sh").path
        let text = try await bash(["-c", #". "$0" && free_ports "$1""#, ports, "\(count)"], name: "ports.sh")
        guard let port = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Failed(script: "ports.sh", output: text)
        }
        return port
    }

    private func bash(_ arguments: [String], name: String) async throws -> String {
        let output = temporary.appending(path: "script-\(UUID().uuidString.prefix(8)).out")
        defer { try? FileManager.default.removeItem(at: output) }
        let program = try Program(
            URL(filePath: "/bin/bash"), arguments, environment: ProcessInfo.processInfo.environment, output: output,
            folder: temporary)
        let ended = await program.awaitEnd(within: .seconds(120))
        if !ended { program.send(SIGKILL) }
        let text = String(decoding: (try? Data(contentsOf: output)) ?? Data(), as: UTF8.self)
        guard ended, program.exitCode == 0 else {
            throw Failed(script: name, output: ended ? String(text.suffix(500)) : "no end within two minutes")
        }
        return text
    }
}
