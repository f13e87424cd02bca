import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import SecurePushCore
import ServiceConfiguration

/// The ingest service over HTTP, on the load test's own connections.
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
            // A cancelled request can have been accepted.
            try Task.checkCancellation()
            for notification in notifications { report(notification, .failed(APIClient.reason(error))) }
        }
    }

    private func pushOne(_ notification: Int, report: (Int, PushResult) -> Void) async throws {
        var request = request(.POST, "/api/notifications", type: "application/json")
        request.body = .bytes(message.body(notification..<notification + 1, inLines: false))
        // The connection can be reused only after the whole body was read.
        let (response, body) = try await api.http.execute(request, within: api.timeout, upTo: 1 << 20)
        guard response.status == .created else {
            try refuse(response, body)
            return report(notification, .failed("\(response.status.code)"))
        }
        // The last path segment is the ID. Reading it there avoids parsing JSON.
        let id = response.headers.first(name: "Location").flatMap { NotificationID($0.suffix(36)) }
        report(notification, id.map { .accepted($0) } ?? .failed("an answer without an ID"))
    }

    private func pushBatch(_ notifications: Range<Int>, report: (Int, PushResult) -> Void) async throws {
        var request = request(.POST, "/api/notifications/batch", type: "application/x-ndjson")
        request.body = .bytes(message.body(notifications, inLines: true))
        let end = ContinuousClock.now + api.timeout
        let response = try await api.http.execute(request, timeout: TimeAmount(api.timeout))
        guard response.status == .ok else {
            try refuse(response, try await response.body.collect(upTo: 1 << 20, within: max(.zero, end - .now)))
            for notification in notifications { report(notification, .failed("\(response.status.code)")) }
            return
        }
        var lines = LineBuffer()
        var next = notifications.lowerBound
        func take(_ line: ArraySlice<UInt8>) throws {
            guard next < notifications.upperBound else { return }
            let line = BatchResponseLine.read(line)
            if case .refused(let response) = line { throw ProblemDocument.failure(response, from: api.service) }
            report(next, line.result)
            next += 1
        }
        do {
            for try await chunk in response.body {
                for line in lines.feed(chunk.readableBytesView) { try take(line) }
                // The read timeout ends a silent server, this one that drips.
                if ContinuousClock.now > end { throw HTTPClientError.deadlineExceeded }
            }
            if let line = lines.rest { try take(line) }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            try Task.checkCancellation()
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

    /// Throws if every other request would get the same response. Other failures are counted.
    private func refuse(_ response: HTTPClientResponse, _ body: ByteBuffer) throws {
        let status = Int(response.status.code)
        guard BatchResponseLine.isRefusal(status) else { return }
        throw ProblemDocument.failure(APIResponse(status: status, body: String(buffer: body)), from: api.service)
    }
}

extension HTTPLoadTarget {
    private struct NotificationState: Decodable {
        struct Delivery: Decodable {
            var state: String
            var updatedAt: String?
        }
        var status: String
        var createdAt: String
        var deliveries: [Delivery]?
    }

    private struct Page: Decodable {
        struct One: Decodable {
            var id: String
            var status: String
        }
        var notifications: [One]
        var next: String?
    }

    func state(of id: NotificationID) async throws -> PushedState {
        let state = try await get("/api/notifications/\(id)/status", as: NotificationState.self)
        guard let status = NotificationStatus(rawValue: state.status),
            let createdAt = Timestamp(rfc3339: state.createdAt)
        else { throw HTTPLoadTarget.unreadable }
        let sent = (state.deliveries ?? []).filter { $0.state == DeliveryState.sent.rawValue }
        return PushedState(
            createdAt: createdAt, status: status,
            sentAt: sent.compactMap { $0.updatedAt.flatMap { Timestamp(rfc3339: $0) } }.max())
    }

    func page(before id: NotificationID?) async throws -> PushedPage {
        let before = id.map { "&Before=\($0)" } ?? ""
        let page = try await get("/api/notifications?Limit=200\(before)", as: Page.self)
        let notifications = try page.notifications.map { one in
            guard let id = NotificationID(one.id), let status = NotificationStatus(rawValue: one.status) else {
                throw HTTPLoadTarget.unreadable
            }
            return (id: id, status: status)
        }
        return PushedPage(notifications: notifications, next: page.next.flatMap { NotificationID($0) })
    }

    private func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
        try api.decode(type, from: try await api.request(.get, path, authorization: authorization))
    }

    private static let unreadable = CommandFailure(
        .failed, "The status of a notification has an unexpected form.",
        hint: "Do ingest and this program have the same version?")
}

/// A line of the batch route's response: an accepted notification, or a problem document.
enum BatchResponseLine: Sendable, Equatable {
    case accepted(NotificationID)
    case failed(String)
    /// Every other line would be refused too.
    case refused(APIResponse)

    var result: PushResult {
        switch self {
        case .accepted(let id): .accepted(id)
        case .failed(let reason): .failed(reason)
        case .refused(let response): .failed("\(response.status)")
        }
    }

    private struct Line: Decodable {
        var id: String?
        var status: Int?

    }

    /// The first bytes of an accepted line from ingest.
    private static let beginning = Array(#"{"Id":""#.utf8)

    static func read(_ line: some Collection<UInt8>) -> BatchResponseLine {
        // Decoding JSON would make the client the slowest part of the test.
        if line.starts(with: beginning) {
            let rest = line.dropFirst(beginning.count)
            let isWhole = rest.dropFirst(36).first == UInt8(ascii: "\"")
            if isWhole, let id = NotificationID(utf8: Array(rest.prefix(36))) { return .accepted(id) }
        }
        let text = String(decoding: line, as: UTF8.self)
        guard let line = try? JSONCoding.decode(Line.self, from: text) else { return .failed("an unreadable answer") }
        if let id = line.id.flatMap({ NotificationID($0) }) { return .accepted(id) }
        guard let status = line.status else { return .failed("an answer without an ID") }
        return isRefusal(status) ? .refused(APIResponse(status: status, body: text)) : .failed("\(status)")
    }

    /// Whether all requests of the test would get this status, because they are alike.
    static func isRefusal(_ status: Int) -> Bool { (300..<500).contains(status) && status != 408 && status != 429 }
}

/// Splits a stream of bytes into lines.
struct LineBuffer: Sendable {
    private var bytes: [UInt8] = []

    /// Appends bytes and returns the lines that they complete, without line ends and without empty lines.
    mutating func feed(_ chunk: some Sequence<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.append(contentsOf: chunk)
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = bytes[..<last].split(separator: UInt8(ascii: "\n"))
        bytes = Array(bytes[(last + 1)...])
        return lines
    }

    /// The last line, if it has no line end.
    var rest: ArraySlice<UInt8>? { bytes.isEmpty ? nil : bytes[...] }
}
