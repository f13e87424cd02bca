import Logging
import SecurePushCore
import ServiceRuntime

/// The second stage of a batch: stores lines in groups and makes their results, in their order.
struct BatchStorer: Sendable {
    let intake: NotificationIntake
    let origin: RequestOrigin
    /// The batch's `Idempotency-Key`; each line is kept under it with its number.
    let key: String?
    let requestID: String
    let logger: Logger

    /// A line's result: the answer, or why there is none.
    private typealias Result = Swift.Result<[UInt8], any Error>

    func run(_ lines: BatchPipe<BatchLine>, into results: BatchPipe<[UInt8]>) async {
        // What comes while one group is being stored is the next one.
        while let group = await lines.receive() {
            let text = text(of: await store(group))
            guard await results.send([text], weight: text.count) else { break }
        }
        results.finish()
    }

    private func store(_ lines: [BatchLine]) async -> [Result] {
        if let key { return await storeOnce(lines, key: key) }
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

    /// Stores requests in one transaction. Where the store refuses that for good, it is not known which one it does not
    /// like, and one shall spoil no other: each is tried alone.
    ///
    /// - Returns: what was not stored.
    private func append(_ requests: [(index: Int, request: SealedRequest)]) async -> [(Int, any Error)] {
        if requests.isEmpty { return [] }
        do {
            try await intake.append(requests.map(\.request))
            return []
        } catch {
            let isFinal = (error as? StorageError).map { !$0.isRetriable } ?? false
            guard isFinal, requests.count > 1 else {
                logger.warning(
                    "lines of a batch were not stored",
                    metadata: ["count": "\(requests.count)", "error": "\(Problem.logText(of: error))"])
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
            let outcome = try await intake.acceptOnce(
                key, body: line.text, now: line.readAt, sealed: Swift.Result { try seal(line) })
            return .success(outcome.answer.body)
        } catch {
            if !(error is Problem) {
                logger.warning(
                    "a line of a batch was not stored", metadata: ["error": "\(Problem.logText(of: error))"])
            }
            return .failure(error)
        }
    }

    private func seal(_ line: BatchLine) throws -> SealedRequest {
        switch line.content {
        case .request(let request): try intake.seal(request, from: origin, now: line.readAt)
        case .refused(let problem), .unread(let problem): throw problem
        }
    }

    /// A line each.
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
