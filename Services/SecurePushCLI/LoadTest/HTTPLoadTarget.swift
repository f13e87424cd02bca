import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import SecurePushCore

/// The ingest service over HTTP, with connections of the load test's own.
struct HTTPLoadTarget: LoadTarget {
    let api: APIClient
    let authorization: String
    let message: LoadMessage

    func push(_ notifications: Range<Int>, report: @escaping (Int, PushResult) -> Void) async throws {
        do {
            if message.plan.usesBatchRoute {
                try await pushBatch(notifications, report: report)
            } else {
                try await pushOne(notifications.lowerBound, report: report)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as CancellationError {
            throw error
        } catch {
            for notification in notifications { report(notification, .failed(APIClient.reason(error))) }
        }
    }

    private func pushOne(_ notification: Int, report: (Int, PushResult) -> Void) async throws {
        var request = request(.POST, "/api/notifications", type: "application/json")
        request.body = .bytes(message.body(notification..<notification + 1, inLines: false))
        let response = try await api.http.execute(request, timeout: TimeAmount(api.timeout))
        // The answer is over when its body is; without it the connection could not be used again.
        let body = try await response.body.collect(upTo: 1 << 20)
        guard response.status == .created else {
            try refuse(response, body)
            return report(notification, .failed("\(response.status.code)"))
        }
        // The path's last part is the ID; reading it there spares the client the JSON.
        let id = response.headers.first(name: "Location").flatMap { NotificationID($0.suffix(36)) }
        report(notification, id.map { .accepted($0) } ?? .failed("an answer without an ID"))
    }

    private func pushBatch(_ notifications: Range<Int>, report: (Int, PushResult) -> Void) async throws {
        var request = request(.POST, "/api/notifications/batch", type: "application/x-ndjson")
        request.body = .bytes(message.body(notifications, inLines: true))
        let response = try await api.http.execute(request, timeout: TimeAmount(api.timeout))
        guard response.status == .ok else {
            try refuse(response, try await response.body.collect(upTo: 1 << 20))
            for notification in notifications { report(notification, .failed("\(response.status.code)")) }
            return
        }
        var lines = LineBuffer()
        var next = notifications.lowerBound
        func take(_ line: ArraySlice<UInt8>) throws {
            guard next < notifications.upperBound else { return }
            let result = BatchAnswerLine.read(line)
            if case .refused(let answer) = result { throw ProblemDocument.failure(answer, from: api.service) }
            report(next, result.result)
            next += 1
        }
        do {
            for try await chunk in response.body { for line in lines.feed(chunk.readableBytesView) { try take(line) } }
            if let line = lines.rest { try take(line) }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            for notification in next..<notifications.upperBound {
                report(notification, .failed(APIClient.reason(error)))
            }
            return
        }
        for notification in next..<notifications.upperBound { report(notification, .failed("no line in the answer")) }
    }

    private func request(_ method: HTTPMethod, _ path: String, type: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: api.baseURL + path)
        request.method = method
        request.headers = ["User-Agent": "securepush", "Authorization": authorization, "Content-Type": type]
        return request
    }

    /// Throws for an answer that would be the same for every request; those that pass are counted.
    private func refuse(_ response: HTTPClientResponse, _ body: ByteBuffer) throws {
        let status = Int(response.status.code)
        guard BatchAnswerLine.isRefusal(status) else { return }
        throw ProblemDocument.failure(APIAnswer(status: status, body: String(buffer: body)), from: api.service)
    }
}
