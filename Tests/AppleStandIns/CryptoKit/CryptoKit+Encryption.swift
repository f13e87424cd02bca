// The part of Apple's CryptoKit that end-to-end encryption uses, for type-checking on Linux. Nothing here runs. The
// declarations follow https://developer.apple.com/documentation/cryptokit.

public import Foundation
public import Security

extension P256 {
    public enum KeyAgreement {
        public struct PublicKey: Sendable {
            init() {}
            public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {}
            public var x963Representation: Data { Data() }
        }

        public struct PrivateKey: Sendable {
            public init(compactRepresentable: Bool = true) {}
            public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {}
            public var publicKey: PublicKey { PublicKey() }
            public var rawRepresentation: Data { Data() }
            public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
                SharedSecret()
            }
        }
    }
}

public enum SecureEnclave {
    public static var isAvailable: Bool { false }

    public enum P256 {
        public enum KeyAgreement {
            public struct PrivateKey: Sendable {
                public init(compactRepresentable: Bool = true, accessControl: SecAccessControl) throws {}
                public init(dataRepresentation: Data) throws {}
                public var dataRepresentation: Data { Data() }
                public var publicKey: CryptoKit.P256.KeyAgreement.PublicKey { .init() }
                public func sharedSecretFromKeyAgreement(
                    with publicKeyShare: CryptoKit.P256.KeyAgreement.PublicKey
                ) throws -> SharedSecret {
                    SharedSecret()
                }
            }
        }
    }
}

public struct SharedSecret: ContiguousBytes, Sendable {
    init() {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

public struct SymmetricKeySize: Sendable {
    public static var bits256: SymmetricKeySize { SymmetricKeySize() }
}

public struct SymmetricKey: ContiguousBytes, Sendable {
    public init<D: ContiguousBytes>(data: D) {}
    public init(size: SymmetricKeySize) {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

public enum AES {
    public enum GCM {
        public struct Nonce: ContiguousBytes, Sequence, Sendable {
            public init() {}
            public init<D: DataProtocol>(data: D) throws {}
            public func makeIterator() -> Array<UInt8>.Iterator { [UInt8]().makeIterator() }
            public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
                try body(UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }

        public struct SealedBox: Sendable {
            init() {}
            public init<C: DataProtocol, T: DataProtocol>(nonce: Nonce, ciphertext: C, tag: T) throws {}
            public var ciphertext: Data { Data() }
            public var tag: Data { Data() }
        }

        public static func seal<P: DataProtocol, A: DataProtocol>(
            _ message: P, using key: SymmetricKey, nonce: Nonce? = nil, authenticating authenticatedData: A
        ) throws -> SealedBox { SealedBox() }

        public static func open<A: DataProtocol>(
            _ sealedBox: SealedBox, using key: SymmetricKey, authenticating authenticatedData: A
        ) throws -> Data { Data() }
    }
}

public protocol HashFunction: Sendable {}

extension SHA256: HashFunction {}

public struct HashedAuthenticationCode<H: HashFunction>: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { [UInt8]().makeIterator() }
}

public struct HKDF<H: HashFunction>: Sendable {
    public static func extract<S: DataProtocol>(
        inputKeyMaterial: SymmetricKey, salt: S?
    ) -> HashedAuthenticationCode<H> { HashedAuthenticationCode() }

    public static func expand<P: ContiguousBytes, I: DataProtocol>(
        pseudoRandomKey prk: P, info: I?, outputByteCount: Int
    ) -> SymmetricKey { SymmetricKey(size: .bits256) }
}
