import ChaosChecker
import Foundation
import NIOHTTP1
import SecurePushClient
import StackKit

/// The SDK's transport to the run's retrieval. Every notification in a response goes into the history, even if the SDK
/// ignores it.
struct HistoryTransport: Transport {
    let device: String
    let user: String
    let port: Int
    let http: LoopbackHTTP
    let secrets: StackSecrets
    let history: HistoryWriter

    private struct Reading: Decodable {
        let Payload: String
    }

    private struct Page: Decodable {
        struct Entry: Decodable {
            let Id: String
            let Payload: String?
        }
        let Notifications: [Entry]
    }

    func send(_ request: TransportRequest, timeout: TimeInterval, maxBytes: Int) async throws -> TransportResponse {
        try await send(request, reason: .push, timeout: timeout, maxBytes: maxBytes)
    }

    func send(
        _ request: TransportRequest, reason: HistoryEvent.Fetch.Reason, timeout: TimeInterval, maxBytes: Int
    ) async throws -> TransportResponse {
        var headers = HTTPHeaders()
        for (name, value) in request.headers where name.lowercased() != "content-type" {
            headers.add(name: name, value: value)
        }
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        let response: LoopbackHTTP.Response
        do {
            response = try await http.send(
                HTTPMethod(rawValue: request.method), port: port, request.url.path(percentEncoded: true) + query,
                headers: headers, json: request.body.map { String(decoding: $0, as: UTF8.self) },
                timeout: .milliseconds(Int(min(max(timeout, 0.001), 60) * 1000)))
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw TransportError.unreachable
        }
        guard response.bytes.count <= maxBytes else { throw TransportError.tooLarge }
        if request.method == "GET" { note(response, request.url, reason) }
        let names = response.headers.map { ($0.name, $0.value) }
        return TransportResponse(
            status: response.status, headers: Dictionary(names) { first, _ in first }, body: Data(response.bytes))
    }

    /// Writes the notifications that were read.
    private func note(_ response: LoopbackHTTP.Response, _ url: URL, _ reason: HistoryEvent.Fetch.Reason) {
        if url.lastPathComponent == "notifications" {
            guard response.status == 200, let page: Page = try? response.decoded() else { return }
            for entry in page.Notifications {
                if let payload = entry.Payload { note(entry.Id, .inbox, 200, secrets.number(of: payload)) }
            }
        } else if url.deletingLastPathComponent().lastPathComponent == "notifications" {
            let payload = response.status == 200 ? try? response.decoded(Reading.self).Payload : nil
            note(url.lastPathComponent, reason, response.status, payload.flatMap(secrets.number))
        }
    }

    private func note(_ id: String, _ reason: HistoryEvent.Fetch.Reason, _ status: Int, _ number: Int?) {
        history.write(
            .fetch(
                .init(
                    time: HistoryWriter.now, device: device, user: user, id: id, reason: reason, status: status,
                    number: number)))
    }
}
