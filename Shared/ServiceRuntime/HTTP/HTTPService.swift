import HTTPTypes
public import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
public import NIOCore
import NIOSSL
import ServiceConfiguration
public import ServiceLifecycle

/// The service that listens and answers by a router, HTTP/1.1, or HTTPS with HTTP/1.1 and HTTP/2.
///
/// When it is told to shut down it stops accepting, closes idle connections and lets those with a request finish it.
/// Put it last in the list of services: they stop in reverse order.
///
/// - Parameters:
///   - router: complete; add routes before.
///   - onListening: called once with the bound port.
///   - onConnection: called on the event loop of every new connection of plain HTTP/1.1, whose pipeline is complete but
///     for a handler that the service adds in front of the router. Connections by HTTPS have none.
/// - Throws: ``ConfigurationError`` if the certificate or the key cannot be used.
public func makeHTTPService<Context: RequestContext>(
    router: Router<Context>, configuration: HTTPConfiguration, context: ServiceContext,
    onListening: @escaping @Sendable (Int) async -> Void = { _ in },
    onConnection: (@Sendable (any Channel) throws -> Void)? = nil
) throws -> any Service where Context: InitializableFromSource<ApplicationRequestContextSource> {
    let application = try makeHTTPApplication(
        router: router, configuration: configuration, context: context, onListening: onListening,
        onConnection: onConnection)
    return HTTPListener(application: application, address: "\(configuration.urlHost):\(configuration.port)")
}

/// ``makeHTTPService(router:configuration:context:onListening:onConnection:)`` as Hummingbird knows it, for
/// HummingbirdTesting.
public func makeHTTPApplication<Context: RequestContext>(
    router: Router<Context>, configuration: HTTPConfiguration, context: ServiceContext,
    onListening: @escaping @Sendable (Int) async -> Void = { _ in },
    onConnection: (@Sendable (any Channel) throws -> Void)? = nil
) throws -> Application<RouterResponder<Context>>
where Context: InitializableFromSource<ApplicationRequestContextSource> {
    let responder = router.buildResponder()
    context.routes.set(router.routes.map { (path: $0.path.description, method: $0.method.rawValue) })
    return Application(
        responder: responder,
        server: try configuration.serverBuilder(onConnection: onConnection),
        configuration: ApplicationConfiguration(
            address: .hostname(configuration.host, port: configuration.port), serverName: nil, backlog: 1024),
        onServerRunning: { channel in
            // Hummingbird has logged the address.
            await onListening(channel.localAddress?.port ?? configuration.port)
        },
        logger: context.logger)
}

extension HTTPConfiguration {
    /// The host as it stands in a URL: IPv6 addresses in brackets.
    var urlHost: String { host.contains(":") ? "[\(host)]" : host }

    func serverBuilder(onConnection: (@Sendable (any Channel) throws -> Void)? = nil) throws -> HTTPServerBuilder {
        let (seconds, attoseconds) = idleTimeout.components
        let idle = TimeAmount.milliseconds(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        // Head limits: a request here is a line, a token and a few fields; 64 KiB in all is generous.
        let http1 = HTTP1Channel.Configuration(
            idleTimeout: idle,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16_384, maxHeaderListSize: 65_536, maxHeaderFieldCount: 100))
        guard let tls else {
            guard let onConnection else { return .http1(configuration: http1) }
            return HTTPServerBuilder { responder in
                FrontedHTTP1Channel(
                    http1: HTTP1Channel(responder: responder, configuration: http1), onConnection: onConnection)
            }
        }
        return try .http2Upgrade(
            tlsConfiguration: try tls.nioConfiguration(),
            configuration: .init(
                idleTimeout: idleTimeout, gracefulCloseTimeout: .seconds(5), streamConfiguration: http1))
    }
}

extension HTTPConfiguration.TLS {
    /// TLS 1.2 and 1.3 with the files' certificate and key.
    func nioConfiguration() throws -> TLSConfiguration {
        let chain = try reading(ConfigurationKeys.tlsCertificateFile, "no PEM certificate") {
            try NIOSSLCertificate.fromPEMFile(certificateFile)
        }
        let key = try reading(ConfigurationKeys.tlsPrivateKeyFile, "no PEM private key") {
            try NIOSSLPrivateKey(file: privateKeyFile, format: .pem)
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }

    private func reading<Value>(
        _ key: ConfigurationKey<String>, _ problem: String, _ read: () throws -> Value
    ) throws -> Value {
        do {
            return try read()
        } catch {
            throw ConfigurationError(key.name, "names a file that holds \(problem)")
        }
    }
}
