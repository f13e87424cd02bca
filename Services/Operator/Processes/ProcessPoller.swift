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

/// Polls this process and those that settings name, every five seconds.
///
/// A host name of an `http://` URL may stand for many processes (a headless service of Kubernetes, a scaled service of
/// Compose): each of its addresses is polled. An `https://` URL stands for one process, because its certificate is for
/// the name.
actor ProcessPoller: Service {
    static let interval = Duration.seconds(5)
    /// The most processes that are polled.
    static let maxProcesses = 64
    /// The largest size of one process's metrics, in bytes.
    static let maxBytes = 4 << 20

    private let targets: [(kind: ProcessKind, target: ProcessTarget)]
    private let metrics: PrometheusMetrics
    private let table: ProcessTable
    private let authorities: TrustedAuthorities

    init(
        targets: [ProcessKind: [ProcessTarget]], metrics: PrometheusMetrics, table: ProcessTable,
        authorities: TrustedAuthorities = TrustedAuthorities()
    ) {
        self.targets = ProcessKind.allCases.flatMap { kind in (targets[kind] ?? []).map { (kind, $0) } }
        self.metrics = metrics
        self.table = table
        self.authorities = authorities
    }

    func run() async {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: OutgoingTLS.configuration(trusting: authorities), redirectConfiguration: .disallow)
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
            .init(
                kind: .operator, address: "this process",
                poll: ProcessPoll(
                    readiness: Readiness(state: .ready, down: []), samples: PrometheusSamples(metrics.exposition())))
        ]
        var places: [Place] = []
        for (kind, target) in targets {
            do {
                places += try await Self.places(of: target).map { Place(kind: kind, target: target, address: $0) }
            } catch {
                let poll = ProcessPoll(readiness: .unreachable("\(error)"))
                found.append(.init(kind: kind, address: target.text, poll: poll))
            }
        }
        found += await withTaskGroup { group in
            for place in places.prefix(Self.maxProcesses) {
                group.addTask {
                    await ProcessTable.Answer(
                        kind: place.kind, address: place.text, poll: Self.poll(place, client))
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
        let target: ProcessTarget
        /// The address or name to connect to.
        let address: String

        var text: String { target.text(at: address) }
    }

    private static func poll(_ place: Place, _ client: HTTPClient) async -> ProcessPoll {
        do {
            return try await ProcessPoll { path in
                var request = HTTPClientRequest(url: place.text + path)
                request.headers.add(name: "host", value: place.target.authority)
                let response = try await client.execute(request, timeout: .seconds(4))
                let body = try await response.body.collect(upTo: maxBytes, within: .seconds(4))
                return (Int(response.status.code), String(buffer: body))
            }
        } catch {
            return ProcessPoll(readiness: .unreachable(reason(of: error)))
        }
    }

    private static func reason(of error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: "\(error.shortDescription)."
        case let error as NIOConnectionError:
            (error.connectionErrors.first?.error as? IOError).map(text(of:)) ?? "It cannot be reached."
        case let error as IOError: text(of: error)
        default: "It cannot be reached."
        }
    }

    private static func text(of error: IOError) -> String { String(cString: strerror(error.errnoCode)) + "." }

    /// The addresses of a target; its name if that must stay in the URL.
    private static func places(of target: ProcessTarget) async throws -> [String] {
        if target.isSecure || (try? SocketAddress(ipAddress: target.host, port: 0)) != nil { return [target.host] }
        let host = target.host
        // Nothing interrupts getaddrinfo, and a name server that does not answer holds it for many seconds. A cancelled
        // poll does not wait for its thread.
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
