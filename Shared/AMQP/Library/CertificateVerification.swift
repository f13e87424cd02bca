import CRabbitMQ

#if canImport(Glibc)
import Glibc
#endif

/// Keeps OpenSSL's reason why the broker's certificate was refused, which librabbitmq drops.
///
/// It does not change the verification: it calls OpenSSL's own, and notes the result. Elsewhere than on Linux it notes
/// nothing, because another library could have functions of the same names.
final class CertificateVerification {
    /// The result that OpenSSL has left (X509_V_…). The memory has a fixed address, which OpenSSL keeps.
    private let result: UnsafeMutablePointer<Int>

    init() {
        result = .allocate(capacity: 1)
        result.initialize(to: 0)
    }

    deinit { result.deallocate() }

    /// Notes the verifications of a socket. This object must live longer than the socket.
    func observe(_ socket: OpaquePointer) {
        #if canImport(Glibc)
        guard let openSSL = OpenSSL.loaded, let context = amqp_ssl_socket_get_context(socket) else { return }
        openSSL.clearErrors()
        openSSL.setVerifyCallback(
            context,
            { store, argument in
                guard let openSSL = OpenSSL.loaded else { return 0 }
                let isTrusted = openSSL.verify(store)
                argument?.assumingMemoryBound(to: Int.self).pointee = Int(openSSL.resultOfVerification(store))
                return isTrusted
            }, result)
        #endif
    }

    /// The reason why the certificate was refused, such as `self-signed certificate`; `nil` if there is none.
    var problem: String? {
        #if canImport(Glibc)
        guard result.pointee != 0, let openSSL = OpenSSL.loaded else { return nil }
        return openSSL.textOfVerification(result.pointee).map { String(cString: $0) }
        #else
        return nil
        #endif
    }

    /// The first error of the handshake, such as `wrong version number`; `nil` if there is none. It is read once.
    var handshakeError: String? {
        #if canImport(Glibc)
        guard let openSSL = OpenSSL.loaded else { return nil }
        let code = openSSL.nextError()
        openSSL.clearErrors()
        return code == 0 ? nil : openSSL.textOfError(code).map { String(cString: $0) }
        #else
        return nil
        #endif
    }
}

#if canImport(Glibc)
/// The functions of OpenSSL that tell why a handshake failed. librabbitmq has loaded the library; its headers are not
/// needed for these seven.
private struct OpenSSL: Sendable {
    typealias VerifyCallback = @Sendable @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32
    typealias SetVerifyCallback =
        @Sendable @convention(c) (UnsafeMutableRawPointer?, VerifyCallback?, UnsafeMutableRawPointer?) -> Void
    typealias OfStore = @Sendable @convention(c) (OpaquePointer?) -> Int32
    typealias TextOfVerification = @Sendable @convention(c) (Int) -> UnsafePointer<CChar>?
    typealias NextError = @Sendable @convention(c) () -> UInt
    typealias TextOfError = @Sendable @convention(c) (UInt) -> UnsafePointer<CChar>?
    typealias ClearErrors = @Sendable @convention(c) () -> Void

    let setVerifyCallback: SetVerifyCallback
    let verify: OfStore
    let resultOfVerification: OfStore
    let textOfVerification: TextOfVerification
    let nextError: NextError
    let textOfError: TextOfError
    let clearErrors: ClearErrors

    /// `nil` if one of the functions is missing.
    static let loaded = OpenSSL()

    private init?() {
        guard let setVerifyCallback = Self.function("SSL_CTX_set_cert_verify_callback", as: SetVerifyCallback.self),
            let verify = Self.function("X509_verify_cert", as: OfStore.self),
            let resultOfVerification = Self.function("X509_STORE_CTX_get_error", as: OfStore.self),
            let textOfVerification = Self.function("X509_verify_cert_error_string", as: TextOfVerification.self),
            let nextError = Self.function("ERR_get_error", as: NextError.self),
            let textOfError = Self.function("ERR_reason_error_string", as: TextOfError.self),
            let clearErrors = Self.function("ERR_clear_error", as: ClearErrors.self)
        else { return nil }
        self.setVerifyCallback = setVerifyCallback
        self.verify = verify
        self.resultOfVerification = resultOfVerification
        self.textOfVerification = textOfVerification
        self.nextError = nextError
        self.textOfError = textOfError
        self.clearErrors = clearErrors
    }

    /// - Parameter type: the function's type in C, which the caller knows from OpenSSL's manual.
    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }
}
#endif
