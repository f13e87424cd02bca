import NIOCore

/// Cuts a stream of bytes into lines (LF; a CR before it is white space to JSON) and keeps no more than a line.
///
/// Lines of white space alone are left out: NDJSON lets a reader ignore them, and they are not counted.
struct LineSplitter {
    enum Line: Sendable, Hashable {
        case text(ByteBuffer)
        /// Longer than the limit; its bytes are gone.
        case tooLong
    }

    /// The bytes of the longest line, without its end.
    let limit: Int
    /// What has come and is not cut yet.
    private var chunk = ByteBuffer()
    /// The beginning of the line that the chunk goes on with.
    private var beginning = ByteBuffer()
    private var isSkipping = false

    init(limit: Int) { self.limit = limit }

    /// Adds what came; first ``next()`` has to have taken all lines before.
    mutating func add(_ chunk: ByteBuffer) { self.chunk = chunk }

    /// The next complete line.
    mutating func next() -> Line? {
        while let end = chunk.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            take(end - chunk.readerIndex)
            chunk.moveReaderIndex(forwardBy: 1)
            if let line = endLine() { return line }
        }
        take(chunk.readableBytes)
        return nil
    }

    /// The last line, where the stream ended without an LF.
    mutating func finish() -> Line? { endLine() }

    /// Moves bytes of the chunk to the line.
    private mutating func take(_ count: Int) {
        guard count > 0, let part = chunk.readSlice(length: count), !isSkipping else { return }
        guard beginning.readableBytes + count <= limit else {
            isSkipping = true
            beginning = ByteBuffer()
            return
        }
        // A line within one chunk is a slice of it, and no copy.
        if beginning.readableBytes == 0 { beginning = part } else { beginning.writeImmutableBuffer(part) }
    }

    private mutating func endLine() -> Line? {
        defer {
            isSkipping = false
            beginning = ByteBuffer()
        }
        if isSkipping { return .tooLong }
        return beginning.readableBytesView.allSatisfy(isWhiteSpace) ? nil : .text(beginning)
    }

    private func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
