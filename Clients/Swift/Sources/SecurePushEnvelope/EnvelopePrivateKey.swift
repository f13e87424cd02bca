public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The private key of a device, which opens what senders have encrypted for it. It never leaves the device, and in
/// secure hardware not even the program sees it.
public protocol EnvelopePrivateKey: Sendable {
    /// The key for senders.
    var publicKey: EnvelopeKey { get }

    /// ECDH (SEC 1, section 3.3.1) with another key.
    ///
    /// - Returns: the 32 bytes of the shared point's x.
    /// - Throws: any error if the key cannot be used now, such as before the first unlock. ``Envelope`` reports it as
    ///   ``EnvelopeError/keyUnavailable``.
    func sharedSecret(with key: EnvelopeKey) throws -> Data
}

/// A private key in memory, for devices without secure hardware and for tests.
public struct EnvelopeSoftwareKey: EnvelopePrivateKey {
    private let key: P256.KeyAgreement.PrivateKey

    /// Makes a new key.
    public init() { key = P256.KeyAgreement.PrivateKey() }

    /// Reads the 32 bytes of a key.
    ///
    /// - Throws: ``EnvelopeError/malformedKey``.
    public init(rawRepresentation: Data) throws(EnvelopeError) {
        guard rawRepresentation.count == 32,
            let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: rawRepresentation)
        else { throw .malformedKey }
        self.key = key
    }

    /// The 32 bytes of the key: never log them.
    public var rawRepresentation: Data { key.rawRepresentation }

    /// The public half, which senders encrypt for.
    public var publicKey: EnvelopeKey { EnvelopeKey(key.publicKey) }

    /// ECDH with another key, in memory.
    ///
    /// - Returns: the 32 bytes of the shared point's x.
    public func sharedSecret(with key: EnvelopeKey) throws -> Data {
        let other = try P256.KeyAgreement.PublicKey(x963Representation: key.x963Representation)
        return try self.key.sharedSecretFromKeyAgreement(with: other).withUnsafeBytes { Data($0) }
    }
}

extension EnvelopeSoftwareKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, so that no log shows the key.
    public var description: String { "private key" }
    /// The same as ``description``, so that a debugger shows no key.
    public var debugDescription: String { description }
    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

#if canImport(CryptoKit)
import Security

/// A private key in the Secure Enclave, which does the exchange itself. It can be used after the first unlock, on this
/// device only.
public struct EnvelopeEnclaveKey: EnvelopePrivateKey {
    private let key: SecureEnclave.P256.KeyAgreement.PrivateKey

    /// Whether this device has a Secure Enclave. Simulators have none.
    public static var isAvailable: Bool { SecureEnclave.isAvailable }

    /// Makes a new key.
    ///
    /// - Throws: an error of the system, such as on a device without a Secure Enclave.
    public init() throws {
        guard
            let access = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, nil)
        else { throw EnvelopeError.keyUnavailable }
        key = try SecureEnclave.P256.KeyAgreement.PrivateKey(accessControl: access)
    }

    /// Finds a key again.
    ///
    /// - Parameter dataRepresentation: what ``dataRepresentation`` was.
    /// - Throws: an error of the system, also for a key of another device.
    public init(dataRepresentation: Data) throws {
        key = try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: dataRepresentation)
    }

    /// The key, encrypted for this device's Secure Enclave. Only that can use it.
    public var dataRepresentation: Data { key.dataRepresentation }

    /// The public half, which senders encrypt for.
    public var publicKey: EnvelopeKey { EnvelopeKey(key.publicKey) }

    /// ECDH with another key, by the Secure Enclave.
    ///
    /// - Returns: the 32 bytes of the shared point's x.
    /// - Throws: an error of the system if the key cannot be used now, such as before the first unlock.
    public func sharedSecret(with key: EnvelopeKey) throws -> Data {
        let other = try P256.KeyAgreement.PublicKey(x963Representation: key.x963Representation)
        return try self.key.sharedSecretFromKeyAgreement(with: other).withUnsafeBytes { Data($0) }
    }
}
#endif
