import AsyncHTTPClient
import Foundations
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import OutgoingHTTP
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Polls the metrics of this process, of the dispatchers and of retrieval every five seconds.
///
/// A host name of an `http://` URL may stand for many processes (a headless service of Kubernetes, a scaled service of
/// Compose): each of its addresses is polled. An `https://` URL stands for one process, because its certificate is for
/// the name.
actor MetricsPoller: Service {
    static let interval = Duration.seconds(5)
    /// The most processes that are polled.
    static let maxProcesses = 64
    /// The largest size of one process's metrics, in bytes.
    static let maxBytes = 4 << 20

    private let targets: [(kind: ProcessKind, target: MetricsTarget)]
    private let metrics: PrometheusMetrics
    private let table: ProcessTable
    private let logger: Logger

    init(configuration: AdminConfiguration, metrics: PrometheusMetrics, table: ProcessTable, logger: Logger) {
        targets =
            configuration.dispatchers.map { (.dispatcher, $0) } + configuration.retrievals.map { (.retrieval, $0) }
        self.metrics = metrics
        self.table = table
        self.logger = logger
    }

    func run() async {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: OutgoingTLS.configuration, redirectConfiguration: .disallow)
        configuration.timeout = .init(connect: .seconds(2), read: .seconds(3))
        try? await HTTPClient.withHTTPClient(configuration: configuration) { client in
            await cancelWhenGracefulShutdown {
                while !Task.isCancelled {
                    await self.poll(client)
                    try? await Task.sleep(for: Self.interval)
                }
            }
        }
    }

    /// One poll of everything.
    func poll(_ client: HTTPClient) async {
        var found: [ProcessTable.Answer] = [
            .init(kind: .ingest, address: "this process", result: .success(PrometheusSamples(metrics.exposition())))
        ]
        var places: [Place] = []
        for (kind, target) in targets {
            do {
                places += try await Self.places(of: target).map { Place(kind: kind, target: target, address: $0) }
            } catch {
                found.append(
                    .init(kind: kind, address: target.text, result: .failure(PollFailure(description: "\(error)"))))
            }
        }
        found += await withTaskGroup { group in
            for place in places.prefix(Self.maxProcesses) {
                group.addTask {
                    await ProcessTable.Answer(
                        kind: place.kind, address: place.text, result: Self.fetch(place, client))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        guard !Task.isCancelled else { return }
        table.note(found, at: .now)
    }

    /// A process to ask.
    private struct Place: Sendable {
        let kind: ProcessKind
        let target: MetricsTarget
        /// The address or name to connect to.
        let address: String

        var text: String { target.text(at: address) }
    }

    private static func fetch(_ place: Place, _ client: HTTPClient) async -> Result<PrometheusSamples, PollFailure> {
        do {
            var request = HTTPClientRequest(url: place.text + "/metrics")
            request.headers.add(name: "host", value: place.target.authority)
            let response = try await client.execute(request, timeout: .seconds(4))
            guard response.status == .ok else {
                return .failure(PollFailure(description: "It answered \(response.status.code)."))
            }
            let body = try await response.body.collect(upTo: maxBytes, within: .seconds(4))
            return .success(PrometheusSamples(String(buffer: body)))
        } catch let error as HTTPClientError {
            return .failure(PollFailure(description: "\(error.shortDescription)."))
        } catch let error as NIOConnectionError {
            let first = error.connectionErrors.first?.error as? IOError
            let reason = first.map { String(cString: strerror($0.errnoCode)) } ?? "It cannot be reached"
            return .failure(PollFailure(description: reason + "."))
        } catch let error as IOError {
            return .failure(PollFailure(description: String(cString: strerror(error.errnoCode)) + "."))
        } catch {
            return .failure(PollFailure(description: "It cannot be reached."))
        }
    }

    /// The addresses of a target; its name if that must stay in the URL.
    private static func places(of target: MetricsTarget) async throws -> [String] {
        if target.isSecure || (try? SocketAddress(ipAddress: target.host, port: 0)) != nil { return [target.host] }
        let host = target.host
        // Nothing interrupts getaddrinfo, and a name server that is away holds it for many seconds. A cancelled poll
        // does not wait for its thread.
        let answer = Mailbox<[String]>()
        NIOThreadPool.singleton.submit { state in answer.put(state == .active ? resolve(host) : []) }
        guard let found = await answer.take()?.first, !found.isEmpty else {
            throw PollFailure(description: "The name has no address.")
        }
        return found
    }

    /// The addresses of a name, each once. Blocks.
    private static func resolve(_ host: String) -> [String] {
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [String] = []
        var next = list
        while let entry = next, found.count < maxProcesses {
            next = entry.pointee.ai_next
            var text = [CChar](repeating: 0, count: 1025)
            guard
                getnameinfo(
                    entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
                    NI_NUMERICHOST) == 0
            else { continue }
            let address = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
            if !found.contains(address) { found.append(address) }
        }
        // `localhost` has an IPv6 address too, where our services do not listen.
        return host == "localhost" && found.contains("127.0.0.1") ? ["127.0.0.1"] : found
    }
}

/// Why a process was not polled.
struct PollFailure: Error, Sendable, Hashable, CustomStringConvertible {
    let description: String
}

extension MetricsTarget {
    /// `HOST:PORT`.
    var authority: String { "\(Self.inURL(host)):\(port)" }
    var text: String { text(at: host) }

    /// The URL with an address in place of the name.
    func text(at address: String) -> String { "\(isSecure ? "https" : "http")://\(Self.inURL(address)):\(port)" }

    private static func inURL(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
