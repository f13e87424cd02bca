import Hummingbird
import NIOCore
import SecurePushCore
import ServiceLifecycle
import ServiceRuntime

/// The first stage of a batch: reads the body as it comes, cuts it into lines and reads those.
struct BatchReader: Sendable {
    let intake: NotificationIntake
    /// Whether lines are kept for their fingerprints.
    let keepsText: Bool

    private enum End: Sendable {
        case complete
        case tooManyLines
        /// The connection or the framing failed.
        case broken
        case cancelled
    }

    /// Hands on every line, then what ended the batch before its time, if anything did.
    func run(_ body: RequestBody, into lines: BatchPipe<BatchLine>) async {
        let (end, count) = await readUntilShutdown(body, into: lines)
        if let problem = problem(of: end, after: count) {
            let line = BatchLine(number: count + 1, readAt: intake.now(), text: [], content: .unread(problem))
            _ = await lines.send([line], weight: line.weight)
        }
        lines.finish()
    }

    /// A batch may last as long as its client likes, so a shutdown ends it after a while between two lines.
    private func readUntilShutdown(_ body: RequestBody, into lines: BatchPipe<BatchLine>) async -> (End, Int) {
        await withTaskGroup(of: (End, Int)?.self) { group in
            group.addTask { await self.read(body, into: lines) }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: BatchLimit.drain)
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
        var splitter = LineSplitter(limit: BatchLimit.lineBytes)
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
            if count == BatchLimit.lines { return (.tooManyLines, count) }
            count += 1
            let line = line(last, number: count)
            if await !lines.send([line], weight: line.weight) { return (.cancelled, count - 1) }
        }
        return (.complete, count)
    }

    /// Hands on the lines that are complete: at once, for the client may wait for their results before it goes on.
    ///
    /// - Returns: what ended the batch, if anything did.
    private func readLines(
        of splitter: inout LineSplitter, into lines: BatchPipe<BatchLine>, count: inout Int
    ) async -> End? {
        var ready: [BatchLine] = []
        var weight = 0
        var end: End?
        while end == nil, let next = splitter.next() {
            guard count + ready.count < BatchLimit.lines else {
                end = .tooManyLines
                break
            }
            let line = line(next, number: count + ready.count + 1)
            ready.append(line)
            weight += line.weight
            // Parsing goes on while the first of a large chunk are stored.
            if weight >= BatchLimit.groupBytes / 4 {
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
        let now = intake.now()
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
                return .request(try intake.read(bytes.assumingMemoryBound(to: UInt8.self), now: now))
            } catch {
                return .refused(error.problem(of: "line"))
            }
        }
    }

    private func problem(of end: End, after count: Int) -> Problem? {
        switch end {
        case .complete: nil
        case .tooManyLines:
            .contentTooLarge("A batch has at most 10,000 lines; line 10,001 and what follows it are not read.")
        case .broken: .badRequest("The body broke off after line \(count).")
        case .cancelled:
            .serviceUnavailable("The service is shutting down; send the lines from \(count + 1) on again.")
        }
    }
}
