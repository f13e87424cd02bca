import Domain
import Foundations
import Logging
import ServiceRuntime

/// The second stage of a batch: stores lines in groups and creates their results, in the order of the lines.
struct BatchStorer: Sendable {
    let acceptor: NotificationAcceptor
    /// The memory that the lines and the results of the batch hold.
    let reservation: RequestBudget.Reservation
    let origin: RequestOrigin
    /// The batch's `Idempotency-Key`; it and the line's number are the key of a line.
    let key: String?
    let requestID: String
    let logger: Logger
    /// Shared by all batches.
    let problem: LastingProblemLog

    /// The result of a line: the answer, or why the line was not accepted.
    private typealias Result = Swift.Result<[UInt8], any Error>

    func run(_ lines: BatchPipe<BatchLine>, into results: BatchPipe<[UInt8]>) async {
        // Lines that arrive while one group is being stored are the next group.
        while let group = await lines.receive() {
            let text = text(of: await store(group))
            reservation.hold(text.count)
            reservation.release(group.reduce(0) { $0 + $1.weight })
            guard await results.send([text], weight: text.count) else { break }
        }
        results.finish()
    }

    private func store(_ lines: [BatchLine]) async -> [Result] {
        if let key { return await storeOnce(lines, key: key) }
        do {
            return try await acceptor.largeRequests.withSlot(of: lines.reduce(0) { $0 + $1.storedBytes }) {
                await storeTogether(lines)
            }
        } catch {
            return lines.map { _ in .failure(error) }
        }
    }

    private func storeTogether(_ lines: [BatchLine]) async -> [Result] {
        var results: [Result] = []
        results.reserveCapacity(lines.count)
        var sealed: [(index: Int, request: SealedRequest)] = []
        for (index, line) in lines.enumerated() {
            do {
                let request = try seal(line)
                sealed.append((index, request))
                results.append(.success(request.answer.body))
            } catch {
                results.append(.failure(error))
            }
        }
        for (index, error) in await append(sealed) { results[index] = .failure(error) }
        return results
    }

    /// Stores requests in one transaction. If the store rejects the transaction permanently, each request is tried
    /// alone, so that a bad one does not affect the others.
    ///
    /// - Returns: the requests that were not stored.
    private func append(_ requests: [(index: Int, request: SealedRequest)]) async -> [(Int, any Error)] {
        if requests.isEmpty { return [] }
        do {
            try await acceptor.append(requests.map(\.request))
            problem.succeeded(to: logger)
            return []
        } catch {
            let isFinal = (error as? StorageError).map { !$0.isRetriable } ?? false
            guard isFinal, requests.count > 1 else {
                problem.failed(
                    Problem.logText(of: error), to: logger, metadata: ["count": "\(requests.count)"])
                return requests.map { ($0.index, error) }
            }
        }
        var failures: [(Int, any Error)] = []
        for request in requests { failures += await append([request]) }
        return failures
    }

    /// The store commits concurrent calls together.
    private func storeOnce(_ lines: [BatchLine], key: String) async -> [Result] {
        await withTaskGroup(of: (Int, Result).self) { group in
            for (index, line) in lines.enumerated() {
                group.addTask { (index, await storeOnce(line, key: key)) }
            }
            var results = [Result](repeating: .success([]), count: lines.count)
            for await (index, result) in group { results[index] = result }
            return results
        }
    }

    private func storeOnce(_ line: BatchLine, key: String) async -> Result {
        if case .unread(let problem) = line.content { return .failure(problem) }
        let key = IdempotentRequest.Key(sender: origin.sender, value: key, line: line.number)
        do {
            let outcome = try await acceptor.acceptOnce(
                key, body: line.text, now: line.readAt, request: Swift.Result { try request(of: line) }, from: origin)
            problem.succeeded(to: logger)
            return .success(outcome.answer.body)
        } catch {
            if !(error is Problem) { problem.failed(Problem.logText(of: error), to: logger) }
            return .failure(error)
        }
    }

    private func seal(_ line: BatchLine) throws -> SealedRequest {
        try acceptor.seal(try request(of: line), from: origin, now: line.readAt)
    }

    private func request(of line: BatchLine) throws(Problem) -> CreateNotificationRequest {
        switch line.content {
        case .request(let request): return request
        case .refused(let problem), .unread(let problem): throw problem
        }
    }

    /// One line per result.
    private func text(of results: [Result]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(results.count * 256)
        for result in results {
            switch result {
            case .success(let answer): text += answer
            case .failure(let error): text += Problem(error, requestID: requestID).jsonBytes
            }
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }
}
