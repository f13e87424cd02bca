import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
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
