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

extension HTTPLoadTarget {
    private struct State: Decodable {
        struct Delivery: Decodable {
            var State: String
            var UpdatedAt: String?
        }
        var Status: String
        var CreatedAt: String
        var Deliveries: [Delivery]?
    }

    private struct Page: Decodable {
        struct One: Decodable {
            var Id: String
            var Status: String
        }
        var Notifications: [One]
        var Next: String?
    }

    func state(of id: NotificationID) async throws -> PushedState {
        let state = try await get("/api/notifications/\(id)/status", as: State.self)
        guard let status = NotificationStatus(rawValue: state.Status),
            let createdAt = Timestamp(rfc3339: state.CreatedAt)
        else { throw HTTPLoadTarget.unreadable }
        let sent = (state.Deliveries ?? []).filter { $0.State == DeliveryState.sent.rawValue }
        return PushedState(
            createdAt: createdAt, status: status,
            sentAt: sent.compactMap { $0.UpdatedAt.flatMap { Timestamp(rfc3339: $0) } }.max())
    }

    func page(before id: NotificationID?) async throws -> PushedPage {
        let before = id.map { "&Before=\($0)" } ?? ""
        let page = try await get("/api/notifications?Limit=200\(before)", as: Page.self)
        let notifications = try page.Notifications.map { one in
            guard let id = NotificationID(one.Id), let status = NotificationStatus(rawValue: one.Status) else {
                throw HTTPLoadTarget.unreadable
            }
            return (id: id, status: status)
        }
        return PushedPage(notifications: notifications, next: page.Next.flatMap { NotificationID($0) })
    }

    private func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
        let answer = try await api.send(.get, path, authorization: authorization)
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: api.service) }
        guard let value = try? JSONText.decode(type, from: answer.body) else { throw HTTPLoadTarget.unreadable }
        return value
    }

    private static let unreadable = CommandFailure(
        .failed, "ingest's answer about a notification's status cannot be read",
        hint: "Are ingest and this program of the same version?")
}

/// A line of the batch route's answer: a notification that was accepted, or a problem document.
enum BatchAnswerLine: Sendable, Equatable {
    case accepted(NotificationID)
    case failed(String)
    /// Refused for what it is, as every other line would be.
    case refused(APIAnswer)

    var result: PushResult {
        switch self {
        case .accepted(let id): .accepted(id)
        case .failed(let reason): .failed(reason)
        case .refused(let answer): .failed("\(answer.status)")
        }
    }

    private struct Line: Decodable {
        var Id: String?
        var status: Int?
    }

    /// The first bytes of an accepted line, as ingest writes it.
    private static let beginning = Array(#"{"Id":""#.utf8)

    static func read(_ line: some Collection<UInt8>) -> BatchAnswerLine {
        // Decoding a million lines would make the client the slowest part of the test.
        if line.starts(with: beginning) {
            let rest = line.dropFirst(beginning.count)
            let isWhole = rest.dropFirst(36).first == UInt8(ascii: "\"")
            if isWhole, let id = NotificationID(utf8: rest.prefix(36)) { return .accepted(id) }
        }
        let text = String(decoding: line, as: UTF8.self)
        guard let line = try? JSONText.decode(Line.self, from: text) else { return .failed("an unreadable answer") }
        if let id = line.Id.flatMap({ NotificationID($0) }) { return .accepted(id) }
        guard let status = line.status else { return .failed("an answer without an ID") }
        return isRefusal(status) ? .refused(APIAnswer(status: status, body: text)) : .failed("\(status)")
    }

    /// Whether a status is about what was asked, not about the moment: all requests of a load test ask the same.
    static func isRefusal(_ status: Int) -> Bool { (400..<500).contains(status) && status != 408 && status != 429 }
}

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
