import Foundation
import NIOSSL
import SecurePushCore

extension Doctor {
    /// The certificate that services show is in force, and for a while yet.
    func certificate() async -> [Finding] {
        let key = "TLS_CERTIFICATE_FILE"
        guard let path = settings[key] else { return [] }
        guard SecretFile.exists(path) else {
            return [.faulty(key, "there is no file \(path)", "Make it, or correct \(key).")]
        }
        guard let leaf = try? NIOSSLCertificate.fromPEMFile(path).first else {
            return [.faulty(key, "\(path) holds no certificate in PEM", "Put the chain there, the leaf first.")]
        }
        let (begin, end) = (Int64(leaf.notValidBefore), Int64(leaf.notValidAfter))
        return [
            Doctor.certificate(
                path, from: Timestamp(milliseconds: begin * 1000), until: Timestamp(milliseconds: end * 1000), now: .now
            )
        ]
    }

    /// How long before its end a certificate is to be renewed.
    private static let renewal = Duration.seconds(14 * 86_400)

    static func certificate(_ path: String, from begin: Timestamp, until end: Timestamp, now: Timestamp) -> Finding {
        let part = "TLS_CERTIFICATE_FILE"
        let advice = "Renew it and restart the services that serve HTTPS."
        if now < begin {
            return .faulty(part, "\(path) is in force from \(begin) only", "Check this machine's clock, or wait.")
        }
        if end <= now { return .faulty(part, "\(path) has expired at \(end)", advice) }
        if end - now < renewal { return .faulty(part, "\(path) expires at \(end)", advice) }
        return .ok(part, "\(path) is in force until \(end)")
    }
}
