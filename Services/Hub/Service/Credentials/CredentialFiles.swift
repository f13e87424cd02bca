import Crypto
import CryptoExtras
import Foundation
import Foundations

/// Reads the files that a file of credentials names, and notes their versions.
final class CredentialFiles {
    private static let maxBytes = 1 << 20

    /// The folder of the file of credentials.
    private let folder: String
    private(set) var versions: [FileVersion] = []

    /// - Parameter path: of the file of credentials.
    init(besides path: String) {
        folder = SafeFolder.split(path).folder
    }

    /// The text of a file.
    ///
    /// - Parameter path: absolute, or relative to the file of credentials.
    /// - Throws: ``FileError``.
    func text(_ path: String) throws(FileError) -> String {
        let place = place(path)
        let content = try FileContent(path: place, maxBytes: Self.maxBytes)
        versions.append(content.version(place))
        return content.text
    }

    /// The path of a file from the working folder.
    func place(_ path: String) -> String { path.utf8.first == UInt8(ascii: "/") ? path : "\(folder)/\(path)" }

    /// The private key in a text in PEM, 32 bytes: P-256 in PKCS#8.
    ///
    /// - Throws: ``SetupError``.
    static func p256(_ pem: String) throws(SetupError) -> [UInt8] {
        guard let block = try PEMBlock.privateKey(in: pem) else {
            throw SetupError(.malformed, "the file has no private key in PEM.")
        }
        guard block.label == "PRIVATE KEY" else {
            throw SetupError(
                .malformed,
                "the key is not in PKCS#8: convert it with `openssl pkcs8 -topk8 -nocrypt -in FILE -out NEWFILE`.")
        }
        guard let der = block.bytes, let key = try? P256.Signing.PrivateKey(derRepresentation: der) else {
            throw SetupError(.malformed, "the key is not an elliptic-curve key on P-256.")
        }
        return Array(key.rawRepresentation)
    }

    /// Why a text is no RSA key of at least 2048 bits in PEM; `nil` if it is one.
    static func rsaProblem(_ pem: String) -> String? {
        guard let block = try? PEMBlock.privateKey(in: pem), let der = block.bytes,
            let key = try? _RSA.Signing.PrivateKey(unsafeDERRepresentation: der)
        else { return "the key is not an RSA key in PEM without a password." }
        return key.keySizeInBits < 2048 ? "the RSA key has \(key.keySizeInBits) bits, and 2048 is the minimum." : nil
    }
}
