import Foundation

/// Looks for secrets in places where none may be: as bytes, in hexadecimal, and in base64 at each of its alignments.
struct SecretSearch: Sendable {
    private let forms: [Data]

    /// - Parameter secrets: at least 12 bytes each, so that nothing else looks like them.
    init(_ secrets: [Data]) {
        forms = secrets.flatMap { secret in
            let hex = secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            let base64 = (0..<3).flatMap { Self.base64(secret, alignment: $0) }
            return [secret, Data(hex.utf8), Data(hex.uppercased().utf8)] + base64
        }
    }

    /// How many of the forms a text or a file holds.
    func hits(in data: Data) -> Int { forms.count { data.range(of: $0) != nil } }

    /// How many forms the files below a folder hold, all files together.
    func hits(below folder: URL) -> Int {
        let paths = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var hits = 0
        while let url = paths?.nextObject() as? URL {
            if let data = try? Data(contentsOf: url, options: .mappedIfSafe) { hits += self.hits(in: data) }
        }
        return hits
    }

    #if os(Linux)
    /// How many forms the memory of a process holds: every area that can be read, as a core dump has them.
    ///
    /// The process is stopped meanwhile, so that nothing moves from an area to one that was searched already.
    func hits(inMemoryOf process: Int32) throws -> Int {
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        let memory = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/mem"))
        defer { try? memory.close() }
        let overlap = (forms.map(\.count).max() ?? 1) - 1
        var hits = 0
        for area in try Self.areas(of: process) {
            var (position, rest) = (area.lowerBound, Data())
            while position < area.upperBound {
                // Some areas, such as those of devices, cannot be read.
                guard (try? memory.seek(toOffset: position)) != nil,
                    let piece = try? memory.read(upToCount: Int(min(area.upperBound - position, 4 << 20))),
                    !piece.isEmpty
                else { break }
                let window = rest + piece
                hits += self.hits(in: window)
                rest = window.suffix(overlap)
                position += UInt64(piece.count)
            }
        }
        return hits
    }

    /// The areas that can be read, from `/proc/PID/maps` (proc(5)).
    private static func areas(of process: Int32) throws -> [Range<UInt64>] {
        let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        return maps.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 2)
            let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard bounds.count == 2, fields[1].hasPrefix("r"), !line.hasSuffix("[vvar]") else { return nil }
            return bounds[0]..<bounds[1]
        }
    }
    #endif

    /// The characters that depend on nothing but these bytes, when so many bytes modulo 3 come before them; in both
    /// alphabets.
    private static func base64(_ secret: Data, alignment: Int) -> [Data] {
        let whole = secret.dropFirst((3 - alignment) % 3)
        let text = Data(whole.prefix(whole.count / 3 * 3)).base64EncodedString()
        let url = text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        return [Data(text.utf8)] + (url == text ? [] : [Data(url.utf8)])
    }
}
