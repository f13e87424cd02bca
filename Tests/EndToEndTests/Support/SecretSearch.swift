import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
    func hits(in data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            forms.count { form in form.withUnsafeBytes { Self.occurs($0, in: bytes) } }
        }
    }

    /// Foundation's search compares byte by byte, which takes minutes for the memory of a service.
    private static func occurs(_ form: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress, let start = form.baseAddress, let first = form.first else { return false }
        var position = 0
        while position + form.count <= bytes.count,
            let found = memchr(base + position, Int32(first), bytes.count - form.count + 1 - position)
        {
            if memcmp(found, start, form.count) == 0 { return true }
            position = UnsafeRawPointer(found) - base + 1
        }
        return false
    }

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
    func hits(inMemoryOf process: Int32) throws -> (found: Int, searchedBytes: Int) {
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        let memory = open("/proc/\(process)/mem", O_RDONLY)
        guard memory >= 0 else { throw CocoaError(.fileReadNoPermission) }
        defer { close(memory) }
        let overlap = (forms.map(\.count).max() ?? 1) - 1
        var piece = [UInt8](repeating: 0, count: 4 << 20)
        var (hits, searched) = (0, 0)
        for area in try Self.areas(of: process) {
            var (position, rest) = (area.lowerBound, Data())
            while position < area.upperBound {
                let length = min(piece.count, Int(area.upperBound - position))
                let count = pread(memory, &piece, length, Int(position))
                // Some areas, such as those of devices, cannot be read.
                if count <= 0 { break }
                let window = rest + piece[..<count]
                hits += self.hits(in: window)
                rest = window.suffix(overlap)
                position += UInt64(count)
                searched += count
            }
        }
        return (hits, searched)
    }

    /// The areas that can be read, from `/proc/PID/maps` (proc(5)).
    private static func areas(of process: Int32) throws -> [Range<UInt64>] {
        // Read to the end: the file has no size, so `String(contentsOfFile:)` ends after the first page.
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/maps"))
        defer { try? file.close() }
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
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
