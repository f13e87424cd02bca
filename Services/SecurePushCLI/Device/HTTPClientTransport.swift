import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import SecurePushClient
import Synchronization

/// The SDK's transport over AsyncHTTPClient: a thousand devices of one process share its connections, where
/// each URLSession would bring connections and a thread of its own.
struct HTTPClientTransport: Transport {
    let http: HTTPClient
    /// Gets the `Retry-After` of each response, which the SDK's errors do not have.
    var retryAfter: RetryAfterNote?

    /// A client for devices.
    ///
    /// - Parameters:
    ///   - connections: the maximum number of connections to one host.
    ///   - url: of the server; the client uses the proxy to it.
    static func makeClient(connections: Int, to url: String) -> HTTPClient {
        var configuration = Network.current.configuration(for: url)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func send(_ request: TransportRequest, timeout: TimeInterval, maxBytes: Int) async throws -> TransportResponse {
        var message = HTTPClientRequest(url: request.url.absoluteString)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.replaceOrAdd(name: name, value: value) }
        if let body = request.body { message.body = .bytes(ByteBuffer(bytes: body)) }
        do {
            let limit = Duration.seconds(min(max(timeout, 0.001), 86_400))
            let (response, body) = try await http.execute(message, within: limit, upTo: maxBytes)
            retryAfter?.note(response.headers.first(name: "Retry-After"))
            let headers = response.headers.map { ($0.name.lowercased(), $0.value) }
            return TransportResponse(
                status: Int(response.status.code), headers: Dictionary(headers) { first, _ in first },
                body: Data(body.readableBytesView))
        } catch {
            throw Self.reason(error)
        }
    }

    private static func reason(_ error: any Error) -> any Error {
        switch error {
        case is CancellationError: error
        case is NIOTooManyBytesError: TransportError.tooLarge
        case is NIOSSLError, is NIOSSLExtraError:
            [.refusedCertificate, .wrongName].contains(TLSFault(error))
                ? TransportError.untrusted : TransportError.unreachable
        case let error as HTTPClientError:
            switch error {
            case .cancelled: CancellationError()
            case .connectTimeout, .deadlineExceeded, .readTimeout: TransportError.timedOut
            default: TransportError.unreachable
            }
        default: TransportError.unreachable
        }
    }
}

/// The `Retry-After` of a client's last response (RFC 9110, 10.2.3). Dates are not read: the services send seconds.
final class RetryAfterNote: Sendable {
    private let last = Mutex<Duration?>(nil)

    func note(_ value: String?) {
        let wait = value.flatMap { Int($0) }.map { Duration.seconds(min(max($0, 0), 86_400)) }
        last.withLock { $0 = wait }
    }

    var wait: Duration? { last.withLock { $0 } }
}

extension SecurePushConfiguration {
    /// The SDK's configuration for a service of the command line.
    ///
    /// - Throws: ``CommandFailure`` if its URL cannot be used.
    init(_ retrieval: APIClient, pushKeys: PushKeySet? = nil) throws {
        guard let url = URL(string: retrieval.baseURL) else {
            throw CommandFailure(.usage, "\(retrieval.address) is not a URL.")
        }
        self.init(retrievalURL: url, pushKeys: pushKeys)
    }
}

extension DiagnosticCode {
    /// The HTTP status that the server answered with; `nil` if the code has another reason.
    var status: Int? { Int(rawValue.drop { !$0.isNumber }) }
}

extension CommandFailure {
    init(_ failure: SecurePushFailure, from client: APIClient) {
        switch failure.code {
        case .untrusted:
            self.init(
                .unreachable, "\(client.service) does not answer at \(client.address): its certificate is not trusted.",
                hint: "Give the authority's certificate with --ca-file FILE, or set SSL_CERT_FILE.")
        case .unreachable, .timedOut:
            self.init(
                .unreachable, "\(client.service) does not answer at \(client.address) (\(failure.code)).",
                hint: "Is it running there? `securepush doctor` checks every part.")
        case let code:
            guard let status = code.status else {
                self.init(.failed, failure.description)
                return
            }
            self = ProblemDocument.failure(APIResponse(status: status, body: ""), from: client.service)
        }
    }
}
