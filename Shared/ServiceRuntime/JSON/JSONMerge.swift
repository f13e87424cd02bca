import SecurePushCore

/// Joins JSON texts: objects member by member, at any depth; of all else the second wins, as in JSON Merge Patch
/// (RFC 7396), except that `null` is a value and removes nothing.
///
/// Values stand in the result as they were written, and members in their order: the first text's, then what the second
/// adds.
enum JSONMerge {
    /// - Throws: `JSONSyntaxError` for what is not JSON.
    static func merge(_ first: [UInt8], with second: [UInt8]) throws -> [UInt8] {
        try first.withUnsafeBufferPointer { first in
            try second.withUnsafeBufferPointer { second in
                var merger = Merger(
                    first: first, second: second, firstReader: try JSONObjectReader(first),
                    secondReader: try JSONObjectReader(second))
                merger.write(merger.firstReader.root, merger.secondReader.root)
                return merger.bytes
            }
        }
    }
}

private struct Merger {
    let first: UnsafeBufferPointer<UInt8>
    let second: UnsafeBufferPointer<UInt8>
    var firstReader: JSONObjectReader
    var secondReader: JSONObjectReader
    var bytes: [UInt8] = []

    mutating func write(_ mine: JSONSpan, _ theirs: JSONSpan) {
        guard mine.kind == .object, theirs.kind == .object else {
            bytes.append(contentsOf: second[theirs.range])
            return
        }
        var others = secondReader.freeMembers(of: theirs, at: "")
        bytes.append(UInt8(ascii: "{"))
        for member in firstReader.freeMembers(of: mine, at: "") {
            begin(member.name)
            if let index = others.firstIndex(where: { $0.name.utf8.elementsEqual(member.name.utf8) }) {
                write(member.value, others.remove(at: index).value)
            } else {
                bytes.append(contentsOf: first[member.value.range])
            }
        }
        for member in others {
            begin(member.name)
            bytes.append(contentsOf: second[member.value.range])
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func begin(_ name: String) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}
