public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests by `URLSession`: without cookies, cache and stored passwords, without redirects, and with a limit for
/// the size of a response that holds while it arrives.
public final class URLSessionTransport: Sendable {
    private let session: URLSession
    private let exchanges = ExchangeTable()

    /// Makes a transport with connections of its own.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // A service extension has little memory.
        configuration.httpMaximumConnectionsPerHost = 4
        #if canImport(Darwin)
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        configuration.waitsForConnectivity = false
        #endif
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }
}

extension URLSessionTransport: Transport {
    /// Sends a request without cookies and cache, and follows no redirect.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - timeout: the longest time for the whole exchange, in seconds.
    ///   - maxBytes: the maximum size of the answer's body.
    /// - Throws: ``TransportError``, or `CancellationError`.
    public func send(
        _ request: TransportRequest, timeout: TimeInterval, maxBytes: Int
    ) async throws -> TransportResponse {
        try Task.checkCancellation()
        var urlRequest = URLRequest(url: request.url)
        urlRequest.httpMethod = request.method
        urlRequest.httpBody = request.body
        urlRequest.timeoutInterval = timeout
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        let task = session.dataTask(with: urlRequest)
        // The limit of `URLRequest` begins anew with each byte that arrives. A server that sends one now and then would
        // hold the exchange for ever.
        let timer = Task { [exchanges] in
            try await SystemClientClock().sleep(for: timeout)
            exchanges.endLate(task)
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchanges.begin(task, Exchange(continuation: continuation, maxBytes: maxBytes))
            }
        } onCancel: {
            task.cancel()
        }
    }
}

/// A response that arrives.
private struct Exchange {
    let continuation: CheckedContinuation<TransportResponse, any Error>
    let maxBytes: Int
    var body = Data()
    var isTooLarge = false
    var isChallenged = false
}

/// The exchanges in flight, by their tasks: the session's delegate.
///
/// It is unchecked because the lock guards all that changes.
private final class ExchangeTable: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var exchanges: [Int: Exchange] = [:]

    func begin(_ task: URLSessionDataTask, _ exchange: Exchange) {
        lock.lock()
        exchanges[task.taskIdentifier] = exchange
        lock.unlock()
        // A task that was cancelled earlier has ended, and would never resume the continuation.
        if Task.isCancelled {
            end(task)?.continuation.resume(throwing: CancellationError())
        } else {
            task.resume()
        }
    }

    /// Ends an exchange that has taken too long.
    func endLate(_ task: URLSessionDataTask) {
        end(task)?.continuation.resume(throwing: TransportError.timedOut)
        task.cancel()
    }

    /// Removes the exchange of a task; `nil` if it has ended before.
    private func end(_ task: URLSessionTask) -> Exchange? {
        lock.lock()
        defer { lock.unlock() }
        return exchanges.removeValue(forKey: task.taskIdentifier)
    }

    /// Credentials go to no other host, and not to another path either: the 3xx itself is the response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// The server's certificate is checked as the system does. A 401 is the response; the session has no password.
    ///
    /// Foundation on Linux never ends a task whose 401 gets the default handling without a password. There the
    /// challenge is cancelled, and the response that came with it counts.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        lock.lock()
        exchanges[task.taskIdentifier]?.isChallenged = true
        lock.unlock()
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        completionHandler(.performDefaultHandling, nil)
        #endif
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.lock()
        let fits = exchanges[dataTask.taskIdentifier]?.take(data) ?? false
        lock.unlock()
        if !fits { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = end(task) else { return }
        if exchange.isTooLarge {
            exchange.continuation.resume(throwing: TransportError.tooLarge)
        } else if let error, !exchange.isChallenged {
            exchange.continuation.resume(throwing: Self.failure(of: error))
        } else if let response = task.response as? HTTPURLResponse {
            let headers = response.allHeaderFields.reduce(into: [String: String]()) { headers, field in
                if let name = field.key as? String { headers[name] = field.value as? String }
            }
            exchange.continuation.resume(
                returning: TransportResponse(status: response.statusCode, headers: headers, body: exchange.body))
        } else {
            exchange.continuation.resume(throwing: TransportError.unreachable)
        }
    }

    private static func failure(of error: any Error) -> any Error {
        switch (error as? URLError)?.code {
        case .cancelled?: CancellationError()
        case .timedOut?: TransportError.timedOut
        case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
            .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?, .clientCertificateRejected?,
            .clientCertificateRequired?:
            TransportError.untrusted
        default: TransportError.unreachable
        }
    }
}

extension Exchange {
    /// Adds data to the body. It returns `false` if the body is too long.
    fileprivate mutating func take(_ data: Data) -> Bool {
        guard body.count + data.count <= maxBytes else {
            isTooLarge = true
            body = Data()
            return false
        }
        body.append(data)
        return true
    }
}
