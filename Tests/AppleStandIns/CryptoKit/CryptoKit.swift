// The part of Apple's CryptoKit that the client library uses, for type-checking on Linux. Nothing here runs. The
// declarations follow https://developer.apple.com/documentation/cryptokit.

public import Foundation

public enum P256 {
    public enum Signing {
        public struct ECDSASignature: Sendable {
            init() {}
            public init<D: DataProtocol>(rawRepresentation: D) throws {}
            public var rawRepresentation: Data { Data() }
        }

        public struct PublicKey: Sendable {
            init() {}
            public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {}
            public var x963Representation: Data { Data() }
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool { false }
        }

        public struct PrivateKey: Sendable {
            public init(compactRepresentable: Bool = true) {}
            public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {}
            public init(pemRepresentation: String) throws {}
            public var pemRepresentation: String { "" }
            public var publicKey: PublicKey { PublicKey() }
            public func signature<D: DataProtocol>(for data: D) throws -> ECDSASignature { ECDSASignature() }
        }
    }
}

public struct SHA256Digest: Sequence, Hashable, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { [UInt8]().makeIterator() }
}

public struct SHA256: Sendable {
    public typealias Digest = SHA256Digest
    public init() {}
    public mutating func update<D: DataProtocol>(data: D) {}
    public func finalize() -> Digest { SHA256Digest() }
    public static func hash<D: DataProtocol>(data: D) -> Digest { SHA256Digest() }
}
