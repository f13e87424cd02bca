public import NIOSSL

/// The TLS settings of every HTTP client here: TLS 1.2 at least (RFC 8996 forbids what is older), names verified.
public enum OutgoingTLS {
    public static var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        return configuration
    }
}
