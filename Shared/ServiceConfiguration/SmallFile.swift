#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads small text files without Foundation.
public enum SmallFile {
    static let limit = 65_536

    /// The text of a file, without white space at its ends; `nil` if it cannot be read, is no UTF-8 or too large.
    public static func contents(of path: String) -> String? {
        guard let bytes = bytes(of: path), bytes.count <= limit else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return String(text[...].trimmingSpaces)
    }

    /// The first ``limit`` bytes and one more, so that a caller can see that there are more.
    public static func bytes(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let room = limit + 1 - bytes.count
            let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                count = max(0, readSome(file, buffer.baseAddress, room))
            }
            guard !chunk.isEmpty else { break }
            bytes += chunk
        }
        return bytes
    }

    private static func readSome(_ file: Int32, _ base: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
        guard let base else { return 0 }
        return read(file, base, count)
    }
}
