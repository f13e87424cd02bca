import ChaosChecker
import Foundation

/// Looks for payloads in files where none may be.
struct CanarySearch: Sendable {
    private static let piece = 4 << 20

    let needles: Needles
    let history: HistoryWriter

    init(marker: String, history: HistoryWriter) {
        needles = Needles(marker: marker)
        self.history = history
    }

    /// Searches every file below a folder, and puts what it found into the history.
    func search(_ folder: URL, _ place: String) {
        var (found, bytes) = (0, 0)
        let walker = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        while let url = walker?.nextObject() as? URL {
            guard (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true else { continue }
            let (hits, size) = count(url)
            found += hits
            bytes += size
        }
        history.write(.leak(.init(place: place, found: found, searchedBytes: bytes)))
    }

    private func count(_ url: URL) -> (found: Int, bytes: Int) {
        guard let file = try? FileHandle(forReadingFrom: url) else { return (0, 0) }
        defer { try? file.close() }
        var (found, bytes) = (0, 0)
        var rest: [UInt8] = []
        while let piece = try? file.read(upToCount: Self.piece), !piece.isEmpty {
            bytes += piece.count
            // What hangs over the edge of a piece is shorter than any needle, so that nothing is counted twice.
            let window = rest + piece
            found += needles.occurrences(in: window)
            rest = Array(window.suffix(needles.overlap))
        }
        return (found, bytes)
    }
}
