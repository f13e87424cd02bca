import ChaosChecker
import Foundation
import NIOHTTP1
import SecurePushClient
import StackKit
import Synchronization

/// The SDK's transport to the run's retrieval. Every notification that a response holds goes into the
/// history, whatever the library makes of it.
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

/// The screen of a device: the history learns what the user sees. The generic texts count for nothing: a payload must
/// follow.
final class HistoryScreen: NotificationPresenter {
    private struct State {
        var visible: Set<PushID> = []
        var shown = 0
    }

    private let device: String
    private let history: HistoryWriter
    private let state = Mutex(State())

    init(device: String, history: HistoryWriter) { (self.device, self.history) = (device, history) }

    /// How many payloads were shown.
    var shown: Int { state.withLock { $0.shown } }

    func show(_ secret: SecretNotification) async {
        state.withLock { state in
            state.visible.insert(secret.id)
            state.shown += 1
        }
        history.write(.show(.init(time: HistoryWriter.now, device: device, id: secret.id.rawValue)))
    }

    func show(_ notice: GenericNotice) async {}
    func show(_ prompt: LogInPrompt) async {}

    func remove(_ ids: [PushID]) async {
        for id in ids where state.withLock({ $0.visible.remove(id) }) != nil {
            history.write(.hide(.init(time: HistoryWriter.now, device: device, id: id.rawValue)))
        }
    }

    func removePrompt() async {}
    func setBadge(_ count: Int) async {}
    func displayedSecrets() async -> Set<PushID>? { state.withLock { $0.visible } }
}
