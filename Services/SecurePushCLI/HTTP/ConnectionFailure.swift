import AsyncHTTPClient
import Foundation
import Foundations
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OutgoingHTTP
import ServiceConfiguration

/// Why there was no response, in words, and a remedy.
struct ConnectionFailure: Sendable, Equatable {
    /// Completes "SERVICE does not answer at URL: ".
    var reason: String
    var hint: String?

    init(_ reason: String, hint: String? = nil) {
        self.reason = reason
        self.hint = hint
    }

    /// - Parameter url: that of the failed request. If its certificate was refused, a second connection without
    ///   a request looks at the certificate: BoringSSL does not tell an expired one from one of an unknown authority.
    static func describe(_ error: any Error, at url: String) async -> ConnectionFailure {
        if let proxy = Network.current.proxy(to: url) {
            var failure = ConnectionFailure(error)
            failure.reason += ", through the proxy \(proxy)"
            failure.hint = failure.hint ?? "HTTPS_PROXY and HTTP_PROXY name the proxy, NO_PROXY the hosts without one."
            return failure
        }
        guard let tls = TLSFault(error) else {
            return await speaksTLS(error, url)
                ? ConnectionFailure("it speaks TLS", hint: "Use a URL that begins with https://.")
                : ConnectionFailure(error)
        }
        guard tls == .refusedCertificate || tls == .wrongName, let parsed = URL(string: url), let host = parsed.host()
        else { return tls.failure(host: url, certificate: nil) }
        let certificate = try? await ServerCertificate.read(host: host, port: parsed.port ?? 443)
        return tls.failure(host: host, certificate: certificate)
    }

    /// Whether a request without TLS failed because the server wants TLS.
    private static func speaksTLS(_ error: any Error, _ url: String) async -> Bool {
        let isUnreadable = error is HTTPParserError || (error as? HTTPClientError) == .remoteConnectionClosed
        guard isUnreadable, let parsed = URL(string: url), parsed.scheme == "http", let host = parsed.host() else {
            return false
        }
        return (try? await ServerCertificate.read(host: host, port: parsed.port ?? 80, timeout: .seconds(2))) != nil
    }

    /// Without a look at the certificate.
    init(_ error: any Error) {
        if let tls = TLSFault(error) {
            self = tls.failure(host: "the URL", certificate: nil)
            return
        }
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .deadlineExceeded, .readTimeout, .tlsHandshakeTimeout: self.init("no answer in time")
            case .remoteConnectionClosed: self.init("the connection was closed")
            case .proxyAuthenticationRequired: self.init("the proxy wants other credentials (407)")
            case .invalidProxyResponse: self.init("the proxy refused the connection")
            // The description of these errors holds the refused value, such as a credential.
            default: self.init(error.shortDescription.lowercased())
            }
        case let error as NIOConnectionError:
            let refusals = error.connectionErrors.compactMap { $0.error as? IOError }
            if let refusal = refusals.first(where: { $0.errnoCode != ECONNREFUSED }) ?? refusals.first {
                self.init(ConnectionFailure.words(of: refusal))
            } else {
                self.init("the host name \(error.host) is unknown")
            }
        case let error as IOError: self.init(ConnectionFailure.words(of: error))
        case is HTTPParserError:
            self.init("the answer is not HTTP")
        case is NIOTooManyBytesError: self.init("the answer is too long")
        default: self.init(ErrorText.describe(error))
        }
    }

    private static func words(of error: IOError) -> String {
        if error.errnoCode == ECONNREFUSED { return "nothing listens there" }
        return String(cString: strerror(error.errnoCode)).lowercased()
    }
}

enum TLSFault: Sendable, Equatable {
    /// An unknown authority, or a certificate that is not valid now.
    case refusedCertificate
    case wrongName
    case notTLS
    case version
    case needsCertificate
    case closed
    /// The name of the TLS alert or of the fault in BoringSSL, without the place in the source.
    case other(String)

    /// `nil` if the error is not from a handshake.
    init?(_ error: any Error) {
        switch error {
        case is NIOSSLExtraError: self = .wrongName
        case NIOSSLError.handshakeFailed(let error): self.init(error)
        case NIOSSLError.uncleanShutdown: self = .closed
        case let error as BoringSSLError: self.init(error)
        default: return nil
        }
    }

    private init(_ error: BoringSSLError) {
        switch error {
        case .sslError(let stack), .unknownError(let stack): self.init(stack.map(\.description).joined(separator: "\n"))
        case .zeroReturn, .syscallError: self = .closed
        default: self = .other("BoringSSL gave no reason")
        }
    }

    /// - Parameter text: `Error: 1 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at …`.
    init(_ text: String) {
        func has(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        if has("CERTIFICATE_VERIFY_FAILED") {
            self = .refusedCertificate
        } else if has("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST") {
            self = .notTLS
        } else if has("UNSUPPORTED_PROTOCOL", "PROTOCOL_VERSION", "NO_SUPPORTED_VERSIONS", "TLS13_DOWNGRADE") {
            self = .version
        } else if has("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE") {
            self = .needsCertificate
        } else if has("EOF during handshake", "EOF during addition") {
            self = .closed
        } else {
            let name = text.split(separator: "OPENSSL_internal:").dropFirst().first?.prefix { !$0.isWhitespace }
            self = .other(name.map { $0.lowercased().replacing("_", with: " ") } ?? "the handshake failed")
        }
    }

    fileprivate func failure(host: String, certificate: ServerCertificate?) -> ConnectionFailure {
        switch self {
        case .refusedCertificate: TLSFault.refusal(certificate)
        case .wrongName:
            ConnectionFailure(
                "its certificate is not for the host name \(host)",
                hint: certificate.flatMap { $0.names.isEmpty ? nil : $0.names.joined(separator: ", ") }
                    .map { "The certificate is for \($0). Use one of these names in the URL." }
                    ?? "Use the name of the certificate in the URL.")
        case .notTLS:
            ConnectionFailure(
                "it does not speak TLS", hint: "If the service listens without TLS, its URL begins with http://.")
        case .version:
            ConnectionFailure(
                "it offers no version of TLS that is safe", hint: "Allow TLS 1.2 or 1.3 in the server or its proxy.")
        case .needsCertificate:
            ConnectionFailure(
                "it wants a client certificate, and this program has none",
                hint: "Use an API key at an address that does not ask for a certificate.")
        case .closed: ConnectionFailure("it closed the connection during the TLS handshake")
        case .other(let name): ConnectionFailure("the TLS handshake failed (\(name))")
        }
    }

    private static func refusal(_ certificate: ServerCertificate?) -> ConnectionFailure {
        let advice = "Give the authority's certificate with --ca-file FILE, or set SSL_CERT_FILE."
        guard let certificate else { return ConnectionFailure("its certificate is not trusted", hint: advice) }
        let now = Date()
        if certificate.notAfter < now {
            return ConnectionFailure(
                "its certificate has expired on \(certificate.notAfter.formatted(.iso8601))",
                hint: "Renew the certificate of the service. Is this machine's clock right?")
        }
        if certificate.notBefore > now {
            return ConnectionFailure(
                "its certificate is not valid before \(certificate.notBefore.formatted(.iso8601))",
                hint: "Is this machine's clock right?")
        }
        return ConnectionFailure("its certificate is from an authority that is not trusted here", hint: advice)
    }
}

/// The certificate of a server, read without trusting it.
struct ServerCertificate: Sendable, Equatable {
    /// The narrowest period of the certificates that the server has sent.
    var notBefore: Date
    var notAfter: Date
    /// The host names and addresses of the first one.
    var names: [String]

    struct NoCertificate: Error {}

    /// Shakes hands, takes the certificates, and ends the connection before anything is sent in it.
    static func read(host: String, port: Int, timeout: TimeAmount = .seconds(5)) async throws -> ServerCertificate {
        var configuration = OutgoingTLS.configuration
        configuration.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let found = loop.makePromise(of: ServerCertificate.self)
        loop.scheduleTask(in: timeout) { found.fail(NoCertificate()) }
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        let connection = ClientBootstrap(group: loop).connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(
                        context: context, serverHostname: isAddress ? nil : host,
                        customVerificationCallback: { certificates, verified in
                            found.completeWith(Result { try ServerCertificate(certificates) })
                            verified.succeed(.failed)
                        })
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: host, port: port)
        connection.whenFailure { found.fail($0) }
        connection.whenSuccess { channel in channel.closeFuture.whenComplete { _ in found.fail(NoCertificate()) } }
        defer { connection.whenSuccess { $0.close(promise: nil) } }
        return try await found.futureResult.get()
    }

    private init(_ certificates: [NIOSSLCertificate]) throws {
        guard let first = certificates.first else { throw NoCertificate() }
        func date(_ seconds: UInt64) -> Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }
        notBefore = certificates.map { date(UInt64(max(0, $0.notValidBefore))) }.max() ?? .distantPast
        notAfter = certificates.map { date(UInt64(max(0, $0.notValidAfter))) }.min() ?? .distantFuture
        let hosts = first._subjectAlternativeNames().filter { $0.nameType == .dnsName }
        // A server chooses the names and their number.
        names = hosts.prefix(8).map { String(String(decoding: $0.contents, as: UTF8.self).oneLine.prefix(253)) }
    }
}
