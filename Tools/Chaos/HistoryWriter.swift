import ChaosChecker
import Foundation
import Foundations
import Synchronization

/// Writes a history, one JSON object a line, in the order in which events are told.
final class HistoryWriter: Sendable {
    private struct State {
        let file: FileHandle
        var lines = Data()
        var failure: (any Error)?
    }

    private let state: Mutex<State>

    init(_ url: URL) throws {
        try Data().write(to: url)
        state = Mutex(State(file: try FileHandle(forWritingTo: url)))
    }

    /// The time that events are given.
    static var now: Int64 { Timestamp.now.milliseconds }

    func write(_ event: HistoryEvent) {
        guard let line = try? JSONEncoder().encode(event) else { return }
        state.withLock { state in
            state.lines.append(line)
            state.lines.append(UInt8(ascii: "\n"))
            if state.lines.count >= 1 << 18 { Self.flush(&state) }
        }
    }

    /// Writes what is left.
    ///
    /// - Throws: what went wrong with any write since the beginning: a history with a hole must not be judged.
    func close() throws {
        try state.withLock { state in
            Self.flush(&state)
            try state.file.close()
            if let failure = state.failure { throw failure }
        }
    }

    private static func flush(_ state: inout State) {
        do { try state.file.write(contentsOf: state.lines) } catch { state.failure = state.failure ?? error }
        state.lines.removeAll(keepingCapacity: true)
    }
}

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
