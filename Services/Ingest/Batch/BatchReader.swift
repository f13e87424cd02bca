import Foundations
import Hummingbird
import NIOCore
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime
import Synchronization

/// The first stage of a batch: splits the body into lines as it arrives and reads each line.
struct BatchReader: Sendable {
    let acceptor: NotificationAcceptor
    /// Whether lines keep their text, for fingerprints.
    let keepsText: Bool
    /// The memory that the lines and the results of the batch hold.
    let reservation: RequestBudget.Reservation
    private let clock = BatchClock()

    private enum End: Sendable {
        case complete
        case tooManyLines
        /// The connection or the framing failed.
        case broken
        /// There was no line for too long.
        case idle
        /// The sender's part of the budget is used up, or the whole budget.
        case busy
        case cancelled
    }

    /// The cause of the end of the reading: the reader itself, or the reason for its cancellation.
    private enum Event: Sendable {
        case read(End, Int)
        case shutdown
        case idle
    }

    /// Passes on every line and then, if the batch ended early, a last line with the reason.
    func run(_ body: RequestBody, into lines: BatchPipe<BatchLine>) async {
        let (end, count) = await readWhileAllowed(body, into: lines)
        if let problem = problem(of: end, after: count) {
            let line = BatchLine(number: count + 1, readAt: acceptor.now(), text: [], content: .unread(problem))
            reservation.hold(line.weight)
            _ = await lines.send([line], weight: line.weight)
        }
        lines.finish()
    }

    /// A client may keep a batch open for any time, so a shutdown ends the batch between two lines after a delay, and
    /// so does a time without a line.
    private func readWhileAllowed(_ body: RequestBody, into lines: BatchPipe<BatchLine>) async -> (End, Int) {
        await withTaskGroup(of: Event.self) { group in
            group.addTask {
                let (end, count) = await self.read(body, into: lines)
                return .read(end, count)
            }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: BatchLimit.drainDuration)
                return .shutdown
            }
            group.addTask {
                await clock.waitForIdle(acceptor.maxBatchIdle)
                return .idle
            }
            var isIdle = false
            for await event in group {
                switch event {
                case .read(.cancelled, let count): return (isIdle ? .idle : .cancelled, count)
                case .read(let end, let count):
                    group.cancelAll()
                    return (end, count)
                case .idle: isIdle = !group.isCancelled
                case .shutdown: break
                }
                group.cancelAll()
            }
            return (.cancelled, 0)
        }
    }

    private func read(_ body: RequestBody, into lines: BatchPipe<BatchLine>) async -> (End, Int) {
        var splitter = LineSplitter(limit: BatchLimit.maxLineBytes)
        var count = 0
        do {
            for try await chunk in body {
                let held = splitter.heldBytes + chunk.readableBytes
                guard await reservation.add(chunk.readableBytes, within: BatchLimit.budgetPatience) else {
                    return (Task.isCancelled ? .cancelled : .busy, count)
                }
                splitter.add(chunk)
                if let end = await readLines(of: &splitter, into: lines, count: &count) { return (end, count) }
                reservation.release(held - splitter.heldBytes)
            }
        } catch {
            return (Task.isCancelled ? .cancelled : .broken, count)
        }
        if Task.isCancelled { return (.cancelled, count) }
        if let last = splitter.finish() {
            if count == BatchLimit.maxLines { return (.tooManyLines, count) }
            if let end = await pass([line(last, number: count + 1)], into: lines, count: &count) { return (end, count) }
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
                if let end = await pass(ready, into: lines, count: &count) { return end }
                (ready, weight) = ([], 0)
            }
        }
        if !ready.isEmpty, let end = await pass(ready, into: lines, count: &count) { return end }
        return end
    }

    /// Reserves the bytes of lines and passes the lines on. The time that this takes is not the client's.
    ///
    /// - Returns: why the batch ended, or `nil` if it goes on.
    private func pass(_ ready: [BatchLine], into lines: BatchPipe<BatchLine>, count: inout Int) async -> End? {
        clock.pause()
        defer { clock.restart() }
        let weight = ready.reduce(0) { $0 + $1.weight }
        guard await reservation.add(weight, within: BatchLimit.budgetPatience) else {
            return Task.isCancelled ? .cancelled : .busy
        }
        guard await lines.send(ready, weight: weight) else { return .cancelled }
        count += ready.count
        return nil
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
                guard case .invalid(let issues) = error else { return .refused(error.problem(of: "line")) }
                return .refused(.invalidFields(issues.first(bytes: BatchLimit.maxErrorBytes)))
            }
        }
    }

    private func problem(of end: End, after count: Int) -> Problem? {
        switch end {
        case .complete: nil
        case .tooManyLines:
            .contentTooLarge("A batch may have at most 10,000 lines; line 10,001 and later lines were not read.")
        case .broken: .badRequest("The body ended unexpectedly after line \(count).")
        case .idle:
            Problem(
                .requestTimeout,
                "No line came for \(acceptor.maxBatchIdle.configurationText), so the batch ended after line \(count).")
        case .busy:
            .serviceUnavailable(
                "Your batches hold too much request data, or all requests together do. Read the results, and resend "
                    + "the lines from line \(count + 1) on.")
        case .cancelled:
            .serviceUnavailable("The service is shutting down; resend the lines from line \(count + 1) on.")
        }
    }
}

/// The time that a batch has been without a line.
private final class BatchClock: Sendable {
    /// When the last line was passed on; `nil` while one is being passed on.
    private let last = Mutex<ContinuousClock.Instant?>(.now)

    func pause() { last.withLock { $0 = nil } }

    func restart() { last.withLock { $0 = .now } }

    /// Returns after the time without a line, or if the task is cancelled.
    func waitForIdle(_ time: Duration) async {
        while !Task.isCancelled {
            let rest = last.withLock { $0.map { $0 + time - .now } } ?? time
            guard rest > .zero else { return }
            try? await Task.sleep(for: rest)
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

    /// The bytes of the line that is not complete.
    var heldBytes: Int { beginning.readableBytes }

    /// Adds received bytes. Call it only after ``next()`` has returned `nil`.
    mutating func add(_ chunk: ByteBuffer) { self.chunk = chunk }

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
