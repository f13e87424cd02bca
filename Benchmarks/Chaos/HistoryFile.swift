import ChaosChecker
import Foundation

/// A history that was kept.
enum HistoryFile {
    struct Unreadable: Error, CustomStringConvertible {
        let line: Int
        let reason: String
        var description: String { "line \(line) of the history cannot be read: \(reason)" }
    }

    /// Judges it piece by piece.
    static func check(_ url: URL) throws -> Verdict {
        let file = try FileHandle(forReadingFrom: url)
        defer { try? file.close() }
        let decoder = JSONDecoder()
        var checker = Checker()
        var rest = Data()
        var number = 0
        func take(_ line: Data) throws {
            number += 1
            guard !line.isEmpty else { return }
            do { checker.take(try decoder.decode(HistoryEvent.self, from: line)) } catch {
                throw Unreadable(line: number, reason: "\(error)")
            }
        }
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
            rest.append(piece)
            guard let last = rest.lastIndex(of: UInt8(ascii: "\n")) else { continue }
            for line in rest[..<last].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                try take(Data(line))
            }
            rest = Data(rest[rest.index(after: last)...])
        }
        try take(rest)
        return checker.verdict()
    }
}
