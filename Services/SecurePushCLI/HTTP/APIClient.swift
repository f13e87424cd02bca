import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import SecurePushCore
import ServiceConfiguration

/// An answer, read whole.
struct APIAnswer: Sendable, Equatable {
    var status: Int
    var body: String
    /// Seconds, where the server gave `Retry-After` as a number.
    var retryAfter: Int?

    var isSuccess: Bool { (200..<300).contains(status) }
}

/// One of the system's HTTP services, as the command line calls it.
struct APIClient: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// The service's name in messages: `ingest`, `retrieval`, `hub-emulator`.
    let service: String
    let baseURL: String
    /// The whole of a request, answer included.
    let timeout: Duration
    /// Holds the connections; the shared one opens eight to a host.
    var http = APIClient.sharedClient

    /// Says at once where nothing listens, instead of trying again until the timeout.
    static let sharedClient: HTTPClient = {
        var configuration = HTTPClient.Configuration(tlsConfiguration: OutgoingTLS.configuration)
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// - Throws: a usage failure for a URL that is not `http(s)://host…`.
    init(service: String, url: String, timeout: Duration = .seconds(30)) throws {
        guard let parsed = URL(string: url), ["http", "https"].contains(parsed.scheme ?? ""),
            !(parsed.host() ?? "").isEmpty
        else { throw CommandFailure(.usage, "\(url.printable) is no URL of the form http://HOST:PORT or https://HOST") }
        self.service = service
        self.timeout = timeout
        baseURL = url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// - Parameter path: begins with `/`; its variable parts are percent-encoded already.
    /// - Throws: ``CommandFailure`` with code `unreachable` when there is no answer.
    func send(
        _ method: Method, _ path: String, authorization: String? = nil, json: String? = nil
    ) async throws -> APIAnswer {
        var request = HTTPClientRequest(url: baseURL + path)
        request.method = HTTPMethod(rawValue: method.rawValue)
        request.headers.add(name: "User-Agent", value: "securepush")
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        if let json {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: json))
        }
        do {
            let response = try await http.execute(request, timeout: TimeAmount(timeout))
            let body = try await response.body.collect(upTo: 16 << 20)
            return APIAnswer(
                status: Int(response.status.code), body: String(buffer: body),
                retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) })
        } catch {
            throw unreachable(error)
        }
    }

    /// The bytes of a server-sent event stream as they come; ends when the server closes it.
    func stream(_ path: String, opened: () -> Void, _ receive: (ByteBuffer) async throws -> Void) async throws {
        var request = HTTPClientRequest(url: baseURL + path)
        request.headers.add(name: "Accept", value: "text/event-stream")
        let response: HTTPClientResponse
        do {
            response = try await http.execute(request, deadline: .distantFuture)
        } catch {
            throw unreachable(error)
        }
        guard response.status == .ok else {
            let body = try? await response.body.collect(upTo: 1 << 20)
            let answer = APIAnswer(status: Int(response.status.code), body: body.map { String(buffer: $0) } ?? "")
            throw ProblemDocument.failure(answer, from: service)
        }
        opened()
        for try await buffer in response.body { try await receive(buffer) }
    }

    private func unreachable(_ error: any Error) -> any Error {
        if error is CancellationError { return error }
        return CommandFailure(
            .unreachable, "\(service) does not answer at \(baseURL): \(APIClient.reason(error))",
            hint: "Is it running there? `securepush doctor` checks every part.")
    }

    /// Why there was no answer, in words.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .deadlineExceeded, .readTimeout: "no answer in time"
            case .remoteConnectionClosed: "the connection was closed"
            default: error.description
            }
        case is NIOConnectionError: "nothing listens there, or its name is unknown"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default: "\(error)"
        }
    }
}

extension String {
    /// The text as one part of a URL's path or query, every byte but the unreserved ones encoded (RFC 3986, 2.3).
    var urlEncoded: String {
        let unreserved = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
    }
}

/// An error answer (RFC 9457) as a person reads it.
struct ProblemDocument: Decodable, Sendable, Equatable {
    struct Fault: Decodable, Sendable, Equatable {
        var pointer: String?
        var detail: String?
    }

    var title: String?
    var detail: String?
    var errors: [Fault]?

    /// The failure that a command reports for an answer with an error status; a body that is no problem document is
    /// left out, for it may be anything.
    static func failure(_ answer: APIAnswer, from service: String) -> CommandFailure {
        let problem = try? JSONText.decode(ProblemDocument.self, from: answer.body)
        let words = [problem?.title, problem?.detail].compactMap { $0?.printable }
        let what = words.isEmpty ? "no reason given" : words.joined(separator: ": ")
        let details = (problem?.errors ?? []).map { fault in
            [fault.pointer, fault.detail].compactMap { $0?.printable }.joined(separator: ": ")
        }
        let code: CommandFailure.Code = [502, 503, 504].contains(answer.status) ? .unreachable : .failed
        return CommandFailure(
            code, "\(service) answered \(answer.status): \(what)", details: details, hint: hint(answer, service))
    }

    private static func hint(_ answer: APIAnswer, _ service: String) -> String? {
        switch answer.status {
        case 401 where service == "ingest":
            "Give an API key by --api-key-file or INGEST_API_KEY (securepush api-keys add NAME makes one)."
        case 401: "Give a token by --token-file or RETRIEVAL_TOKEN, or a password by --password-file."
        case 429, 503: answer.retryAfter.map { "Try again in \($0) s." }
        default: nil
        }
    }
}

/// JSON as text, for what is sent and printed.
enum JSONText {
    /// A value on one line, members in alphabetical order.
    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// An object of members whose values are JSON already, in this order.
    static func object(_ members: [(name: String, json: String)]) throws -> String {
        "{" + (try members.map { "\(try encode($0.name)):\($0.json)" }).joined(separator: ",") + "}"
    }

    /// Whether a text is one JSON value.
    static func isValid(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes)
            return (try? scanner.document()) != nil
        }
    }

    /// The value of a member of a valid object, as it was written: numbers keep their digits, which decoding would
    /// not promise. `nil` where the text is no object or has no such member.
    static func member(_ name: String, of text: String) -> String? {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            guard var reader = try? JSONObjectReader(bytes), reader.root.kind == .object else { return nil }
            let member = reader.freeMembers(of: reader.root, at: "").last { $0.name == name }
            return member.map { String(decoding: JSONScanner(bytes).bytes(of: $0.value), as: UTF8.self) }
        }
    }

    /// The text of a JSON string, or `nil` for another value.
    static func string(_ json: String) -> String? {
        try? JSONDecoder().decode(String.self, from: Data(json.utf8))
    }
}
