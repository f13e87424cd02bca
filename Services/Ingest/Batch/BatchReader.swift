import Hummingbird
import NIOCore
import SecurePushCore
import ServiceLifecycle
import ServiceRuntime

/// The first stage of a batch: splits the body into lines as it arrives and reads each line.
struct BatchReader: Sendable {
    let acceptor: NotificationAcceptor
    /// Whether lines keep their text, for fingerprints.
    let keepsText: Bool

    private enum End: Sendable {
        case complete
        case tooManyLines
        /// The connection or the framing failed.
        case broken
        case cancelled
    }

    /// Passes on every line and then, if the batch ended early, a last line with the reason.
    func run(_ body: RequestBody, into lines: BatchPipe<BatchLine>) async {
        let (end, count) = await readUntilShutdown(body, into: lines)
        if let problem = problem(of: end, after: count) {
            let line = BatchLine(number: count + 1, readAt: acceptor.now(), text: [], content: .unread(problem))
            _ = await lines.send([line], weight: line.weight)
        }
        lines.finish()
    }

    /// A client may keep a batch open for any time, so a shutdown ends the batch between two lines after a delay.
    private func readUntilShutdown(_ body: RequestBody, into lines: BatchPipe<BatchLine>) async -> (End, Int) {
        await withTaskGroup(of: (End, Int)?.self) { group in
            group.addTask { await self.read(body, into: lines) }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: BatchLimit.drainDuration)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            for await result in group {
                if let result { return result }
            }
            return (.cancelled, 0)
        }
    }

    private func read(_ body: RequestBody, into lines: BatchPipe<BatchLine>) async -> (End, Int) {
        var splitter = LineSplitter(limit: BatchLimit.maxLineBytes)
        var count = 0
        do {
            for try await chunk in body {
                splitter.add(chunk)
                if let end = await readLines(of: &splitter, into: lines, count: &count) { return (end, count) }
            }
        } catch {
            return (Task.isCancelled ? .cancelled : .broken, count)
        }
        if Task.isCancelled { return (.cancelled, count) }
        if let last = splitter.finish() {
            if count == BatchLimit.maxLines { return (.tooManyLines, count) }
            count += 1
            let line = line(last, number: count)
            if await !lines.send([line], weight: line.weight) { return (.cancelled, count - 1) }
        }
        return (.complete, count)
    }

    /// Passes on the complete lines at once, because the client may wait for their results before it continues.
    ///
    /// - Returns: why the batch ended, or `nil` if it goes on.
    private func readLines(
        of splitter: inout LineSplitter, into lines: BatchPipe<BatchLine>, count: inout Int
    ) async -> End? {
        var ready: [BatchLine] = []
        var weight = 0
        var end: End?
        while end == nil, let next = splitter.next() {
            guard count + ready.count < BatchLimit.maxLines else {
                end = .tooManyLines
                break
            }
            let line = line(next, number: count + ready.count + 1)
            ready.append(line)
            weight += line.weight
            // The first lines of a large chunk are stored while the others are parsed.
            if weight >= BatchLimit.maxGroupBytes / 4 {
                guard await lines.send(ready, weight: weight) else { return .cancelled }
                count += ready.count
                (ready, weight) = ([], 0)
            }
        }
        if !ready.isEmpty {
            guard await lines.send(ready, weight: weight) else { return .cancelled }
            count += ready.count
        }
        return end
    }

    private func line(_ line: LineSplitter.Line, number: Int) -> BatchLine {
        let now = acceptor.now()
        guard case .text(let text) = line else {
            let problem = Problem.contentTooLarge("A line may be at most 2 MiB.")
            return BatchLine(number: number, readAt: now, text: [], content: .unread(problem))
        }
        let bytes = keepsText ? Array(text.readableBytesView) : []
        return BatchLine(number: number, readAt: now, text: bytes, content: read(text, now: now))
    }

    private func read(_ text: ByteBuffer, now: Timestamp) -> BatchLine.Content {
        text.withUnsafeReadableBytes { bytes in
            do throws(CreateNotificationRefusal) {
                return .request(try acceptor.read(bytes.assumingMemoryBound(to: UInt8.self), now: now))
            } catch {
                return .refused(error.problem(of: "line"))
            }
        }
    }

    private func problem(of end: End, after count: Int) -> Problem? {
        switch end {
        case .complete: nil
        case .tooManyLines:
            .contentTooLarge("A batch may have at most 10,000 lines; line 10,001 and later lines were not read.")
        case .broken: .badRequest("The body ended unexpectedly after line \(count).")
        case .cancelled:
            .serviceUnavailable("The service is shutting down; resend the lines from line \(count + 1) on.")
        }
    }
}

/// Splits a stream of bytes into lines and buffers at most one line. LF ends a line; a CR before it is white space in
/// JSON.
///
/// Lines with only white space are skipped and not counted, as NDJSON allows.
struct LineSplitter {
    enum Line: Sendable, Hashable {
        case text(ByteBuffer)
        /// The line was longer than the limit and its bytes were discarded.
        case tooLong
    }

    /// The maximum length of a line in bytes, without the line end.
    let limit: Int
    /// The received bytes that are not split yet.
    private var chunk = ByteBuffer()
    /// The start of the line that continues in the chunk.
    private var beginning = ByteBuffer()
    private var isSkipping = false

    init(limit: Int) { self.limit = limit }

    /// Adds received bytes. Call it only after ``next()`` has returned `nil`.
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

    /// The last line, if the stream ended without an LF.
    mutating func finish() -> Line? { endLine() }

    /// Moves bytes from the chunk to the line.
    private mutating func take(_ count: Int) {
        guard count > 0, let part = chunk.readSlice(length: count), !isSkipping else { return }
        guard beginning.readableBytes + count <= limit else {
            isSkipping = true
            beginning = ByteBuffer()
            return
        }
        // A line within one chunk is a slice of it, not a copy.
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
