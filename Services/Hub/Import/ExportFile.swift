import Crypto
import Foundation
import Foundations

/// A file of registrations, one on each line, as an export job of Azure Notification Hubs writes it.
struct ExportFile {
    let path: String
    /// In bytes.
    let size: Int
    /// When the file was last written. A copy from a blob has the time of the download.
    let modifiedAt: Timestamp
    fileprivate let file: FileHandle

    private static let chunk = 1 << 20
    /// How many bytes are read to find the kind of the file.
    private static let start = 4096

    /// - Throws: ``FileError`` for a file that cannot be read, and for one of another kind.
    init(path: String) throws(FileError) {
        file = FileHandle(fileDescriptor: try FileContent.open(path), closeOnDealloc: true)
        self.path = path
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: target)
        guard let attributes, attributes[.type] as? FileAttributeType == .typeRegular,
            let end = try? file.seekToEnd(), let size = Int(exactly: end)
        else { throw FileError(.unreadable, path: path, "This is no regular file. Save the export in a file.") }
        self.size = size
        let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        modifiedAt = Timestamp(milliseconds: Int64(exactly: (modified * 1000).rounded()) ?? 0)
        if let problem = Self.problem(of: try read(from: 0, count: Self.start)) {
            throw FileError(.malformed, path: path, problem)
        }
    }

    /// The reason why a file is not an export, by its first bytes; `nil` if it can be one.
    private static func problem(of start: [UInt8]) -> String? {
        if start.isEmpty { return "The file is empty: the hub had no registrations, or the download failed." }
        if start.starts(with: [0x1F, 0x8B]) { return "The file is compressed: write `gunzip -k FILE` first." }
        if start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) {
            return "The file is in UTF-16: write `iconv -f UTF-16 -t UTF-8 FILE > NEW` first."
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = start.dropFirst(start.starts(with: mark) ? 3 : 0).drop { $0 <= 0x20 }
        switch text.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return "The file is JSON. The export of an export job has one XML element on each line."
        case UInt8(ascii: "<")?:
            guard text.starts(with: "<feed".utf8) || text.starts(with: "<!DOCTYPE html".utf8) else { return nil }
            return "The file is not the result of an export job, which has one registration on each line."
        case nil where start.count < Self.start:
            return "The file has blanks only."
        case nil:
            return nil
        default:
            return "The file is not an export: it must have one XML element on each line."
        }
    }

    /// The SHA-256 of the file, in hexadecimal digits.
    func fingerprint() throws -> String {
        var hash = SHA256()
        var offset: Int = 0
        while true {
            try Task.checkCancellation()
            let bytes = try read(from: offset, count: Self.chunk)
            if bytes.isEmpty { return Array(hash.finalize()).hex }
            hash.update(data: bytes)
            offset += bytes.count
        }
    }

    /// - Returns: no bytes at the end of the file, and fewer than `count` only before it.
    fileprivate func read(from offset: Int, count: Int) throws(FileError) -> [UInt8] {
        do {
            try file.seek(toOffset: UInt64(clamping: offset))
            return try file.read(upToCount: count).map { [UInt8]($0) } ?? []
        } catch {
            throw FileError(.unreadable, path: path, "The file cannot be read: \(ErrorText.describe(error)).")
        }
    }
}

/// Reads the lines of an export one after another, with bounded memory.
struct ExportLines {
    enum Line: Sendable {
        case text([UInt8])
        /// Longer than ``maxBytes``.
        case tooLong
    }

    /// The service takes a registration of at most 64 KiB.
    static let maxBytes = 128 << 10
    private static let chunk = 256 << 10

    /// How many bytes of the file the lines so far are.
    private(set) var bytes: Int
    /// The number of the last line.
    private(set) var lines: Int
    private let file: ExportFile
    private var buffer: [UInt8] = []
    private var start = 0
    private var readBytes: Int
    private var isAtEnd = false

    /// - Parameters:
    ///   - bytes: where the next line begins.
    ///   - lines: the number of the line before.
    init(_ file: ExportFile, bytes: Int = 0, lines: Int = 0) {
        (self.file, self.bytes, self.lines, readBytes) = (file, bytes, lines, bytes)
    }

    /// - Returns: `nil` after the last line.
    mutating func next() throws(FileError) -> Line? {
        var skipped = 0
        var searched = 0
        while true {
            let end = buffer[(start + searched)...].firstIndex(of: UInt8(ascii: "\n"))
            if let end { return take(end, next: end + 1, after: skipped) }
            if isAtEnd {
                guard start < buffer.count || skipped > 0 else { return nil }
                return take(buffer.count, next: buffer.count, after: skipped)
            }
            searched = buffer.count - start
            if searched > Self.maxBytes {
                skipped += searched
                (start, searched) = (buffer.count, 0)
            }
            try fill()
        }
    }

    private mutating func take(_ end: Int, next: Int, after skipped: Int) -> Line {
        let line = buffer[start..<end]
        bytes += skipped + next - start
        lines += 1
        start = next
        return skipped > 0 || line.count > Self.maxBytes ? .tooLong : .text(Array(line))
    }

    private mutating func fill() throws(FileError) {
        buffer.removeFirst(start)
        start = 0
        let new = try file.read(from: readBytes, count: Self.chunk)
        readBytes += new.count
        isAtEnd = new.isEmpty
        buffer += new
    }
}
