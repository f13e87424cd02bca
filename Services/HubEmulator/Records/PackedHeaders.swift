import HTTPTypes

/// The header of a request in one block of memory, without the token: what a record keeps of it.
///
/// A dozen fields are two dozen strings; a record that is kept for long holds one array instead.
struct PackedHeaders: Sendable {
    /// For each field its name and its value, each after its length in two bytes.
    private var bytes: [UInt8] = []

    init(_ headers: HTTPFields) {
        self.init(reserving: 512)
        for field in headers where field.name != .authorization { append(field.name.rawName, field.value) }
    }

    /// Empty, with room for so many bytes.
    init(reserving capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// Reads ``packed`` again; nil when it is damaged.
    init?(packed: some Sequence<UInt8>) {
        bytes = Array(packed)
        var index = 0
        while index < bytes.count {
            guard index + 2 <= bytes.count else { return nil }
            index += 2 + (Int(bytes[index]) << 8 | Int(bytes[index + 1]))
        }
        guard index == bytes.count, isPaired else { return nil }
    }

    mutating func append(_ name: String, _ value: String) {
        Self.append(name, to: &bytes)
        Self.append(value, to: &bytes)
    }

    /// The block as it can be kept in a file.
    var packed: [UInt8] { bytes }

    var byteCount: Int { bytes.capacity }

    /// Calls with each name and value, in the order of the request.
    func forEach(_ body: (_ name: String, _ value: String) -> Void) {
        var index = 0
        while index < bytes.count {
            let name = text(&index)
            body(name, text(&index))
        }
    }

    /// All fields; repeated ones joined with a comma.
    var joined: [String: String] {
        var joined: [String: String] = [:]
        forEach { name, value in joined[name] = joined[name].map { "\($0), \(value)" } ?? value }
        return joined
    }

    /// The value of a field, its name given in lower case; the last one wins.
    subscript(_ name: String) -> String? {
        var found: String?
        forEach { if $0.lowercased() == name { found = $1 } }
        return found
    }

    /// Whether every name has its value.
    private var isPaired: Bool {
        var count = 0
        var index = 0
        while index < bytes.count {
            index += 2 + (Int(bytes[index]) << 8 | Int(bytes[index + 1]))
            count += 1
        }
        return count.isMultiple(of: 2)
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            let count = min(utf8.count, Int(UInt16.max))
            bytes.append(UInt8(truncatingIfNeeded: count >> 8))
            bytes.append(UInt8(truncatingIfNeeded: count))
            bytes.append(contentsOf: utf8.prefix(count))
        }
    }

    private func text(_ index: inout Int) -> String {
        let count = Int(bytes[index]) << 8 | Int(bytes[index + 1])
        defer { index += 2 + count }
        return String(decoding: bytes[(index + 2)..<(index + 2 + count)], as: UTF8.self)
    }
}
