/// Cuts a stream of bytes into lines.
struct LineBuffer: Sendable {
    private var bytes: [UInt8] = []

    /// Takes the next bytes, and gives the lines that they complete, without line ends; empty ones are left out.
    mutating func feed(_ chunk: some Sequence<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.append(contentsOf: chunk)
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = bytes[..<last].split(separator: UInt8(ascii: "\n"))
        bytes = Array(bytes[(last + 1)...])
        return lines
    }

    /// A last line without its end.
    var rest: ArraySlice<UInt8>? { bytes.isEmpty ? nil : bytes[...] }
}
