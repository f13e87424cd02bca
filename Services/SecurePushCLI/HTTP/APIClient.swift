import AsyncHTTPClient
import Foundation
import Foundations
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import ServiceConfiguration

/// A response with its whole body.
struct APIResponse: Sendable, Equatable {
    var status: Int
    var body: String
    /// Seconds, if the server sent `Retry-After` as a number.
    var retryAfter: Int?
    var location: String?

    /// `Retry-After`, at most a day.
    var wait: Duration? { retryAfter.map { .seconds(min(max($0, 0), 86_400)) } }

    var isSuccess: Bool { (200..<300).contains(status) }
}

extension APIResponse {
    fileprivate init(_ response: HTTPClientResponse, _ body: String) {
        self.init(
            status: Int(response.status.code), body: body,
            retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) },
            location: response.headers.first(name: "Location"))
    }
}

extension HTTPClient {
    /// One request with its whole response. AsyncHTTPClient's own deadline ends with the head.
    ///
    /// - Throws: ``HTTPClientError`` `readTimeout` or `deadlineExceeded` if the response is not whole in time.
    func execute(
        _ request: HTTPClientRequest, within limit: Duration, upTo maxBytes: Int
    ) async throws -> (HTTPClientResponse, ByteBuffer) {
        let end = ContinuousClock.now + limit
        let response = try await execute(request, timeout: TimeAmount(limit))
        return (response, try await response.body.collect(upTo: maxBytes, within: max(.zero, end - .now)))
    }
}

struct APIClient: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// The service's name in messages: `ingest`, `retrieval`, `hub-emulator`.
    let service: String
    /// It may hold credentials; messages show ``address``.
    let baseURL: String
    /// For a request with its whole response.
    let timeout: Duration
    /// The value of `Authorization` of every request; `nil` for none.
    var authorization: String?
    var http: HTTPClient

    /// - Parameter origin: the option or the variable that the URL comes from.
    /// - Throws: ``CommandFailure`` with code `usage` if the URL is not `http(s)://host…`.
    init(service: String, url: String, from origin: String? = nil, timeout: Duration = .seconds(30)) throws {
        let place = origin.map { "\($0): " } ?? ""
        let url = OutsideText.trimmed(url)
        guard OutsideText.controlCharacter(in: url) == nil, let parsed = URL(string: url),
            ["http", "https"].contains(parsed.scheme ?? ""),
            !(parsed.host() ?? "").isEmpty
        else {
            throw CommandFailure(
                .usage, "\(place)\(Self.shown(url)) is not a URL like http://HOST:PORT or https://HOST.")
        }
        // NIO traps on other numbers.
        guard (1...65_535).contains(parsed.port ?? 80) else {
            throw CommandFailure(.usage, "\(place)\(Self.shown(url)) has a port that is not between 1 and 65535.")
        }
        http = Network.current.client(for: url, idle: max(timeout, Network.longestSilence))
        self.service = service
        self.timeout = timeout
        baseURL = url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// Scheme, host and port of the service.
    var address: String { PublicURL.describe(baseURL) }

    /// A mistyped URL in a message. One that could hold credentials is not shown.
    private static func shown(_ url: String) -> String {
        if url.contains("://") { return PublicURL.describe(url) }
        return url.utf8.contains(UInt8(ascii: "@")) ? "the value" : url.oneLine
    }

    /// - Parameter path: begins with `/`; its variable parts are percent-encoded.
    /// - Throws: ``CommandFailure`` with code `unreachable` if there is no response.
    func send(
        _ method: Method, _ path: String, json: String? = nil, idempotencyKey: String? = nil
    ) async throws -> APIResponse {
        var request = HTTPClientRequest(url: baseURL + path)
        request.method = HTTPMethod(rawValue: method.rawValue)
        request.headers.add(name: "User-Agent", value: "securepush")
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        if let idempotencyKey { request.headers.add(name: "Idempotency-Key", value: idempotencyKey) }
        if let json {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: json))
        }
        let answer: APIResponse
        do {
            let (response, body) = try await http.execute(request, within: timeout, upTo: 16 << 20)
            answer = APIResponse(response, String(buffer: body))
        } catch {
            throw await unreachable(error)
        }
        if let redirect = redirect(answer) { throw redirect }
        return answer
    }

    /// The failure if a response sends the client elsewhere: the credentials are for this service alone.
    private func redirect(_ response: APIResponse) -> CommandFailure? {
        guard (300..<400).contains(response.status) else { return nil }
        let target = response.location.map { location in
            location.contains("://") ? " and redirects to \(PublicURL.describe(location))" : " and redirects"
        }
        return CommandFailure(
            .failed, "\(service) answered \(response.status) at \(address)\(target ?? ""). Redirects are not followed.",
            hint: "Give the URL of \(service) itself. A proxy or a log-in page may answer at this one.")
    }

    /// Like ``send(_:_:json:idempotencyKey:)``, but a response with an error status is a failure.
    ///
    /// - Throws: ``CommandFailure`` that says why the service refused the request.
    func request(
        _ method: Method, _ path: String, json: String? = nil, idempotencyKey: String? = nil
    ) async throws -> APIResponse {
        let response = try await send(method, path, json: json, idempotencyKey: idempotencyKey)
        guard response.isSuccess else { throw ProblemDocument.failure(response, from: service) }
        return response
    }

    /// The value of a response, and its text.
    func get<Value: Decodable>(
        _ path: String, _ query: [(name: String, value: String?)] = [], as type: Value.Type = Value.self
    ) async throws -> (value: Value, text: String) {
        let members = query.compactMap { name, value in value.map { "\(name)=\(PercentCoding.encode($0))" } }
        let whole = path + (members.isEmpty ? "" : "?" + members.joined(separator: "&"))
        let response = try await request(.get, whole)
        return (try decode(type, from: response), response.body)
    }

    func decode<Value: Decodable>(_ type: Value.Type, from response: APIResponse) throws -> Value {
        guard let value = try? JSONCoding.decode(type, from: response.body) else {
            throw CommandFailure(
                .failed, "The response of \(service) has an unexpected form.",
                hint: "Do \(service) and this program have the same version?")
        }
        return value
    }

    /// Receives a stream of server-sent events until the server closes it.
    func stream(_ path: String, opened: () -> Void, _ receive: (ByteBuffer) async throws -> Void) async throws {
        var request = HTTPClientRequest(url: baseURL + path)
        request.headers.add(name: "Accept", value: "text/event-stream")
        let response: HTTPClientResponse
        do {
            response = try await http.execute(request, timeout: TimeAmount(timeout))
        } catch {
            throw await unreachable(error)
        }
        guard response.status == .ok else {
            let body = try? await response.body.collect(upTo: 1 << 20, within: timeout)
            let failed = APIResponse(response, body.map { String(buffer: $0) } ?? "")
            throw redirect(failed) ?? ProblemDocument.failure(failed, from: service)
        }
        opened()
        do {
            for try await buffer in response.body { try await receive(buffer) }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw await unreachable(error)
        }
    }

    private func unreachable(_ error: any Error) async -> any Error {
        if error is CancellationError { return error }
        let failure = await ConnectionFailure.describe(error, at: baseURL)
        return CommandFailure(
            .unreachable, "\(service) does not answer at \(address): \(failure.reason).",
            hint: failure.hint ?? "Is it running there? `securepush doctor` checks every part.")
    }

    static func reason(_ error: any Error) -> String { ConnectionFailure(error).reason }
}

/// The body of an error response (RFC 9457).
struct ProblemDocument: Decodable, Sendable, Equatable {
    struct Fault: Decodable, Sendable, Equatable {
        var pointer: String?
        var detail: String?
    }

    var title: String?
    var detail: String?
    var errors: [Fault]?

    /// The failure for a response with an error status. Leaves out a body that is not a problem document.
    static func failure(_ response: APIResponse, from service: String) -> CommandFailure {
        let problem = try? JSONCoding.decode(ProblemDocument.self, from: response.body)
        let words = [problem?.title, problem?.detail].compactMap { $0?.printable }
        let what = words.isEmpty ? "no reason given" : words.joined(separator: ": ")
        let details = (problem?.errors ?? []).map { fault in
            [fault.pointer, fault.detail].compactMap { $0?.printable }.joined(separator: ": ")
        }
        let code: CommandFailure.Code = [502, 503, 504].contains(response.status) ? .unreachable : .failed
        var failure = CommandFailure(
            code, "\(service) answered \(response.status): \(what)\(what.hasSuffix(".") ? "" : ".")", details: details,
            hint: hint(response, service))
        failure.retryAfter = response.wait
        return failure
    }

    private static func hint(_ response: APIResponse, _ service: String) -> String? {
        switch response.status {
        case 401 where service == "ingest":
            "Give an API key with --api-key-file or INGEST_API_KEY. `securepush api-keys add NAME` makes one."
        case 401 where service == "retrieval":
            "Give a token with --token-file or RETRIEVAL_TOKEN, or a password with --password-file."
        case 429, 502, 503, 504: response.retryAfter.map { "Try again in \($0) s." }
        default: nil
        }
    }
}

enum JSONCoding {
    /// A value on one line, members in alphabetical order and in PascalCase.
    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder.pascalCase.encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder.pascalCase.decode(type, from: Data(text.utf8))
    }

    /// The value of an object's member: the text of a string, otherwise the JSON exactly as it was written. `nil` if
    /// the text is not an object or has no such member.
    static func member(_ name: String, of text: String) -> String? {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            guard let reader = try? JSONObjectReader(bytes) else { return nil }
            return reader.member(name, of: reader.value).map { reader.text(of: $0) }
        }
    }
}
