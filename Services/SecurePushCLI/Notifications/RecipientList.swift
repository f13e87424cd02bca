import Domain
import Foundation
import Foundations

/// The recipients of `securepush send`: each once, in the order in which they were given.
struct RecipientList: Sendable, Equatable {
    /// The maximum number of names, so that a file that was named by mistake is noticed.
    static let maxCount = 1_000_000
    static let maxBytes = 64 << 20

    private(set) var names: [String] = []
    /// The number of names that were given more than once and are left out.
    private(set) var duplicates = 0
    /// Names are different if their bytes are; Swift compares strings by meaning.
    private var known: Set<[UInt8]> = []

    init(_ names: [String] = []) {
        for name in names { add(name) }
    }

    private mutating func add(_ name: String) {
        if known.insert(Array(name.utf8)).inserted { names.append(name) } else { duplicates += 1 }
    }

    /// Adds the names of a text, one per line. White space around a name, empty lines and lines that begin with `#` are
    /// ignored.
    ///
    /// - Parameter source: the file, for messages.
    /// - Throws: ``CommandFailure`` with code `usage` that names the line with an invalid name.
    mutating func add(linesOf text: String, from source: String) throws {
        for (index, line) in OutsideText.lines(text).enumerated() {
            let name = OutsideText.trimmed(line)
            if name.isEmpty || name.utf8.first == UInt8(ascii: "#") { continue }
            guard UserName(name) != nil else {
                throw CommandFailure(
                    .usage, "\(source), line \((index + 1).grouped): this is not the name of a recipient.",
                    hint: "A name has 1 to 1,024 bytes of UTF-8 and no control characters.")
            }
            add(name)
            guard names.count <= Self.maxCount else {
                throw CommandFailure(.usage, "\(source) has more than \(Self.maxCount.grouped) names.")
            }
        }
    }

    /// Parts that one request can hold: up to 1,000 names, and no more bytes than ingest takes.
    ///
    /// - Parameter payloadBytes: the size of the payload as JSON.
    func batches(payloadBytes: Int) -> [[String]] {
        let most = max(1, min(Self.maxNames, Self.maxStoredBytes / max(1, payloadBytes)))
        let room = Self.maxBodyBytes - payloadBytes
        var batches: [[String]] = []
        var bytes = 0
        for name in names {
            // The name with its quotes, and a comma.
            let size = JSONText.quoted(name).utf8.count + 1
            if let last = batches.indices.last, batches[last].count < most, bytes + size <= room {
                batches[last].append(name)
                bytes += size
            } else {
                batches.append([name])
                bytes = size
            }
        }
        return batches
    }

    /// The limits of ingest (docs/reference/limits.md). A body may have 2 MiB; the other members have the rest of it.
    private static let maxNames = 1000
    private static let maxStoredBytes = 8 << 20
    private static let maxBodyBytes = (2 << 20) - (64 << 10)
}
