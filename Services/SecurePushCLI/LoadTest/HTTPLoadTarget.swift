import AsyncHTTPClient
import Domain
import Foundations
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import ServiceConfiguration

/// The ingest service over HTTP, on the load test's own connections.
struct HTTPLoadTarget: LoadTarget {
    let api: APIClient
    let message: LoadMessage

    func push(_ notifications: Range<Int>, report: @escaping (Int, PushResult) -> Void) async throws {
        var rest = notifications
        var reason = "no line in the answer"
        func take(_ result: PushResult) {
            if let next = rest.popFirst() { report(next, result) }
        }
        do {
            if message.plan.usesBatchRoute {
                try await pushBatch(notifications, take)
            } else {
                take(try await pushOne(notifications))
            }
        } catch let error where error is CommandFailure || error is CancellationError {
            throw error
        } catch let status as FailedStatus {
            reason = "\(status.code)"
        } catch {
            // A cancelled request can have been accepted.
            try Task.checkCancellation()
            reason = APIClient.reason(error)
        }
        while !rest.isEmpty { take(.failed(reason)) }
    }

    private func pushOne(_ notification: Range<Int>) async throws -> PushResult {
        var request = request("/api/notifications", type: "application/json")
        request.body = .bytes(message.body(notification, inLines: false))
        // The connection can be reused only after the whole body was read.
        let (response, body) = try await api.http.execute(request, within: api.timeout, upTo: 1 << 20)
        guard response.status == .created else { throw failure(response, body) }
        // The last path segment is the ID. Reading it there avoids parsing JSON.
        let id = response.headers.first(name: "Location").flatMap { NotificationID($0.suffix(36)) }
        return id.map { .accepted($0) } ?? .failed("an answer without an ID")
    }

    private func pushBatch(_ notifications: Range<Int>, _ take: (PushResult) -> Void) async throws {
        var request = request("/api/notifications/batch", type: "application/x-ndjson")
        request.body = .bytes(message.body(notifications, inLines: true))
        let end = ContinuousClock.now + api.timeout
        let response = try await api.http.execute(request, timeout: TimeAmount(api.timeout))
        guard response.status == .ok else {
            throw failure(response, try await response.body.collect(upTo: 1 << 20, within: max(.zero, end - .now)))
        }
        var lines = LineBuffer()
        for try await chunk in response.body {
            for line in lines.feed(chunk.readableBytesView) { take(try PushResult(line, from: api.service)) }
            // The read timeout ends a silent server, this one that drips.
            if ContinuousClock.now > end { throw HTTPClientError.deadlineExceeded }
        }
        if let line = lines.rest { take(try PushResult(line, from: api.service)) }
    }

    private func request(_ path: String, type: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: api.baseURL + path)
        request.method = .POST
        request.headers = ["User-Agent": "securepush", "Content-Type": type]
        if let authorization = api.authorization { request.headers.add(name: "Authorization", value: authorization) }
        return request
    }

    /// A status of the moment, which is counted.
    private struct FailedStatus: Error {
        var code: Int
    }

    /// The failure that ends the test if every other request would get the same response.
    private func failure(_ response: HTTPClientResponse, _ body: ByteBuffer) -> any Error {
        let status = Int(response.status.code)
        guard PushResult.isRefusal(status) else { return FailedStatus(code: status) }
        return ProblemDocument.failure(APIResponse(status: status, body: String(buffer: body)), from: api.service)
    }

    func state(of id: NotificationID) async throws -> PushedState {
        let state: Wire.Status = try await api.get("/api/notifications/\(id)/status").value
        guard let status = NotificationStatus(rawValue: state.status),
            let createdAt = Timestamp(rfc3339: state.createdAt)
        else { throw HTTPLoadTarget.unreadable }
        let sent = state.deliveries.filter { $0.state == DeliveryState.sent.rawValue }
        return PushedState(
            createdAt: createdAt, status: status, sentAt: sent.compactMap { Timestamp(rfc3339: $0.updatedAt) }.max())
    }

    func page(before id: NotificationID?) async throws -> PushedPage {
        let page: Wire.NotificationPage = try await api.get(
            "/api/notifications", [("Limit", "200"), ("Before", id?.description)]
        ).value
        let notifications = try page.notifications.map { row in
            guard let id = NotificationID(row.id), let status = NotificationStatus(rawValue: row.status) else {
                throw HTTPLoadTarget.unreadable
            }
            return (id: id, status: status)
        }
        return PushedPage(notifications: notifications, next: page.next.flatMap { NotificationID($0) })
    }

    private static let unreadable = CommandFailure(
        .failed, "The status of a notification has an unexpected form.",
        hint: "Do ingest and this program have the same version?")
}

extension PushResult {
    private struct Line: Decodable {
        var id: String?
        var status: Int?
    }

    /// The first bytes of an accepted line from ingest.
    private static let beginning = Array(#"{"Id":""#.utf8)

    /// Reads a line of the batch route's response: an accepted notification, or a problem document.
    ///
    /// - Throws: ``CommandFailure`` if every other line would be refused too.
    init(_ line: some Collection<UInt8>, from service: String) throws {
        // Decoding JSON would make the client the slowest part of the test.
        if line.starts(with: Self.beginning) {
            let rest = line.dropFirst(Self.beginning.count)
            let isWhole = rest.dropFirst(36).first == UInt8(ascii: "\"")
            if isWhole, let id = NotificationID(utf8: Array(rest.prefix(36))) {
                self = .accepted(id)
                return
            }
        }
        let text = String(decoding: line, as: UTF8.self)
        guard let read = try? JSONCoding.decode(Line.self, from: text) else {
            self = .failed("an unreadable answer")
            return
        }
        if let id = read.id.flatMap({ NotificationID($0) }) {
            self = .accepted(id)
        } else if let status = read.status {
            if Self.isRefusal(status) {
                throw ProblemDocument.failure(APIResponse(status: status, body: text), from: service)
            }
            self = .failed("\(status)")
        } else {
            self = .failed("an answer without an ID")
        }
    }

    /// Whether all requests of the test would get this status, because they are alike.
    static func isRefusal(_ status: Int) -> Bool { (300..<500).contains(status) && status != 408 && status != 429 }
}

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
