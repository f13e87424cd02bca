import Foundation
import Foundations
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore

@testable import Hub

/// A running emulator as a client of the hub sees it.
struct Emulator: Sendable {
    let client: any TestClientProtocol
    let listenKey: String
    let state: EmulatorState

    var port: Int { client.port ?? 0 }

    /// A request to the hub, signed with the full rule unless told otherwise.
    func call(
        _ method: HTTPRequest.Method, _ uri: String, headers: HTTPFields = [:], body: String? = nil,
        authorization: String? = TestToken.make()
    ) async throws -> TestResponse {
        var headers = headers
        if let authorization { headers[.authorization] = authorization }
        return try await client.execute(
            uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
    }

    func send(
        _ body: String = #"{"aps":{}}"#, format: String = "apple", tags: String? = nil, headers: HTTPFields = [:],
        uri: String = "/hub/messages?api-version=2020-06"
    ) async throws -> TestResponse {
        var headers = headers
        headers[HubHeaders.format] = format
        headers[HubHeaders.tags] = tags
        return try await call(.post, uri, headers: headers, body: body)
    }

    /// Registers a device and returns the registration's ID.
    @discardableResult
    func register(
        _ handle: String, tags: String, element: String = "AppleRegistrationDescription",
        field: String = "DeviceToken", hub: String = "hub"
    ) async throws -> String {
        let response = try await call(
            .post, "/\(hub)/registrations?api-version=2020-06", headers: TestEntry.headers,
            body: TestEntry.make(element, "<Tags>\(tags)</Tags><\(field)>\(handle)</\(field)>"))
        return response.text.between("<RegistrationId>", "</RegistrationId>") ?? ""
    }

    /// `GET /emulator/messages`.
    func records(_ query: String = "") async throws -> [[String: Any]] {
        let response = try await call(.get, "/emulator/messages\(query)", authorization: nil)
        return try JSONSerialization.jsonObject(with: Data(response.text.utf8)) as? [[String: Any]] ?? []
    }

    /// Delivers the scheduled sends that are due at a time, as ``ScheduleService`` does.
    ///
    /// - Returns: how many.
    func deliverSchedules(at time: Timestamp) async throws -> Int {
        let service = ScheduleService(
            schedules: state.schedules, sends: state.sends,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let due = try await state.schedules.takeDue(now: time)
        for send in due { await service.deliver(send) }
        return due.count
    }

    @discardableResult
    func addFault(_ json: String) async throws -> TestResponse {
        try await call(.post, "/emulator/faults", body: json, authorization: nil)
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }

    var detail: String? { text.between("<Detail>", "</Detail>") }
}

extension String {
    /// What stands between two texts, the first time.
    func between(_ start: String, _ end: String) -> String? {
        guard let from = firstRange(of: start), let to = self[from.upperBound...].firstRange(of: end)
        else { return nil }
        return String(self[from.upperBound..<to.lowerBound])
    }

    func occurrences(of text: String) -> Int { ranges(of: text).count }
}

/// Atom entries as clients send them.
enum TestEntry {
    static let headers: HTTPFields = [.contentType: "application/atom+xml;type=entry;charset=utf-8"]

    static func make(_ element: String, _ inner: String) -> String {
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><entry xmlns=\"\(XMLNamespace.atom)\">"
            + "<content type=\"application/xml\"><\(element) xmlns:i=\"\(XMLNamespace.instance)\""
            + " xmlns=\"\(XMLNamespace.connect)\">\(inner)</\(element)></content></entry>"
    }

    static func apple(_ token: String = "AB12", tags: String = "") -> String {
        make("AppleRegistrationDescription", "<Tags>\(tags)</Tags><DeviceToken>\(token)</DeviceToken>")
    }
}
