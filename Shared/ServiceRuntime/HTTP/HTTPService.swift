import Foundations
import HTTPTypes
package import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import ServiceConfiguration
package import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A service that listens and answers requests by a router: HTTP/1.1, or HTTPS with HTTP/1.1 and HTTP/2.
///
/// ``HTTPLimits`` bound its connections and requests. The certificate is read again when its file changes, and at
/// SIGHUP. On shutdown the service stops accepting, closes idle connections and finishes the requests in flight.
/// Services stop in reverse order, so put it last in the list.
///
/// - Parameters:
///   - router: with all its routes.
///   - direct: a second way to some of them.
///   - onListening: called once with the bound port.
/// - Throws: ``ConfigurationError`` if the certificate, the key or a limit cannot be used.
package func makeHTTPService<Context: RequestContext>(
    router: Router<Context>, direct: DirectRoutes? = nil, configuration: HTTPConfiguration, context: ServiceContext,
    onListening: @escaping @Sendable (Int) async -> Void = { _ in }
) throws -> any Service where Context: InitializableFromSource<ApplicationRequestContextSource> {
    let application = try makeHTTPApplication(
        router: router, direct: direct, configuration: configuration, context: context, onListening: onListening)
    return HTTPListener(application: application, address: "\(configuration.urlHost):\(configuration.port)")
}

/// The Hummingbird application of ``makeHTTPService(router:direct:configuration:context:onListening:)``, for tests.
///
/// - Throws: ``ConfigurationError`` if the certificate, the key or a limit cannot be used.
package func makeHTTPApplication<Context: RequestContext>(
    router: Router<Context>, direct: DirectRoutes? = nil, configuration: HTTPConfiguration, context: ServiceContext,
    onListening: @escaping @Sendable (Int) async -> Void = { _ in }
) throws -> Application<RouterResponder<Context>>
where Context: InitializableFromSource<ApplicationRequestContextSource> {
    let responder = router.buildResponder()
    context.routes.set(router.routes.map { (path: $0.path.description, method: $0.method.rawValue) })
    return Application(
        responder: responder,
        server: try configuration.serverBuilder(direct: direct, context: context),
        configuration: ApplicationConfiguration(
            address: .hostname(configuration.host, port: configuration.port), serverName: nil, backlog: 1024),
        onServerRunning: { channel in
            let logger = context.logger
            try? await channel.eventLoop.submit {
                try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler(logger: logger), position: .first)
            }.get()
            // Hummingbird has logged the address.
            await onListening(channel.localAddress?.port ?? configuration.port)
        },
        logger: context.logger)
}

extension HTTPConfiguration {
    /// The URL that it listens at, with the configured port.
    package var address: String { "\(tls == nil ? "http" : "https")://\(urlHost):\(port)" }

    /// The host as in a URL: IPv6 addresses in brackets.
    var urlHost: String { host.contains(":") ? "[\(host)]" : host }

    /// Hummingbird's server with the limits.
    ///
    /// - Throws: ``ConfigurationError`` if the certificate, the key or a limit cannot be used.
    func serverBuilder(direct: DirectRoutes?, context: ServiceContext) throws -> HTTPServerBuilder {
        let limits = try limits.resolved()
        context.proxies.set(limits.trustedProxies)
        let connections = HTTPConnections(limits: limits, context: context)
        context.requests.setLimit(limits.maxInFlight) { [weak connections] in connections?.closeWorst() }
        let table = direct.map { DirectRouteTable($0, service: context) }
        // The head of a request is a line, a token of at most 16 KiB and a few fields; 64 KiB in all is generous.
        // ConnectionHandler and RequestHandler hold all deadlines.
        let http1 = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestHandler(limits: limits, direct: table, logger: context.logger)],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 20_480, maxHeaderListSize: 65_536, maxHeaderFieldCount: 100))
        guard let tls else {
            return HTTPServerBuilder { responder in
                GuardedHTTP1Channel(
                    http1: HTTP1Channel(responder: responder, configuration: http1), connections: connections)
            }
        }
        let certificates = try CertificateStore(tls, logger: context.logger)
        certificates.watch()
        context.onReload("TLS certificate") { try await certificates.reloadInBackground() }
        context.audit?.watch([
            ReloadableSource(
                key: ConfigurationKeys.tlsCertificateFile.name, problem: { nil }, reload: {},
                changes: { certificates.current.generation })
        ])
        context.metrics.observe(.certificateExpiry) {
            Double(Int64(certificates.expiry) - Timestamp.now.seconds)
        }
        return HTTPServerBuilder { responder in
            try GuardedTLSChannel(
                http1: HTTP1Channel(responder: responder, configuration: http1), certificates: certificates,
                connections: connections)
        }
    }
}

/// The service cannot listen on its address.
struct HTTPListenError: Error, CustomStringConvertible {
    let description: String
}

/// The HTTP server as a service whose error names the address that it could not listen on.
struct HTTPListener<Application: Service>: Service {
    let application: Application
    /// `HOST:PORT` as configured.
    let address: String

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            throw HTTPListenError(description: "cannot listen on \(address): \(HTTPListener.reason(error))")
        } catch let error as SocketAddressError {
            throw HTTPListenError(description: "cannot listen on \(address): \(error)")
        }
    }

    private static func reason(_ error: IOError) -> String {
        switch error.errnoCode {
        case EADDRINUSE: "the address is in use"
        case EACCES: "this user may not listen on the port"
        case EADDRNOTAVAIL: "this machine has no such address"
        default: String(cString: strerror(error.errnoCode)).lowercased()
        }
    }
}

/// Stops accepting for a second when no descriptor or memory is left for a connection.
///
/// NIO's own back-off does not help: the listening socket stays readable, and the event loop spins. While accepting is
/// paused, connections wait in the kernel's queue.
final class AcceptPauseHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Channel

    private let logger: Logger
    private let problem = LastingProblemLog("Connections cannot be accepted and wait in the kernel")
    private var isPaused = false

    init(logger: Logger) { self.logger = logger }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) {
            pause(context, error)
        }
        context.fireErrorCaught(error)
    }

    private func pause(_ context: ChannelHandlerContext, _ error: IOError) {
        problem.failed(to: logger, metadata: [LogKeys.errorMessage: "\(error)"])
        guard !isPaused else { return }
        isPaused = true
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .seconds(1)) {
            let (handler, context) = bound.value
            handler.isPaused = false
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
