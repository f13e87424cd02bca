#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The forms in which bytes of a payload would be found: as they are, and in base64 at each of its three alignments.
package struct Needles: Sendable {
    private let forms: [[UInt8]]
    /// How many bytes a search in pieces must carry over from the last piece.
    package let overlap: Int

    /// - Parameter marker: what every payload of a run holds and nothing else does; at least 12 ASCII characters.
    package init(marker: String) {
        let bytes = Array(marker.utf8)
        forms = [bytes] + (0..<3).map { Self.base64(bytes, alignment: $0) }
        overlap = (forms.map(\.count).max() ?? 1) - 1
    }

    /// How often any form occurs.
    package func occurrences(in bytes: UnsafeRawBufferPointer) -> Int {
        forms.reduce(0) { $0 + Self.occurrences(of: $1, in: bytes) }
    }

    package func occurrences(in bytes: [UInt8]) -> Int { bytes.withUnsafeBytes { occurrences(in: $0) } }

    private static func occurrences(of needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        guard let base = bytes.baseAddress, let first = needle.first else { return 0 }
        var (count, start) = (0, 0)
        while start + needle.count <= bytes.count,
            let found = memchr(base + start, Int32(first), bytes.count - needle.count + 1 - start)
        {
            let position = UnsafeRawPointer(found) - base
            let isHit = memcmp(found, needle, needle.count) == 0
            count += isHit ? 1 : 0
            start = position + (isHit ? needle.count : 1)
        }
        return count
    }

    /// The characters that depend on nothing but these bytes, when so many bytes modulo 3 come before them.
    private static func base64(_ bytes: [UInt8], alignment: Int) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let whole = bytes.dropFirst((3 - alignment) % 3)
        var text: [UInt8] = []
        var group = whole.startIndex
        while group + 3 <= whole.endIndex {
            let bits = Int(whole[group]) << 16 | Int(whole[group + 1]) << 8 | Int(whole[group + 2])
            for shift in [18, 12, 6, 0] { text.append(alphabet[bits >> shift & 63]) }
            group += 3
        }
        return text
    }
}
