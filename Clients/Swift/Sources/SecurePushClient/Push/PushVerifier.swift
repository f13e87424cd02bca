import Foundation
import SecurePushEnvelope

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// Checks that a push comes from the server: an Ed25519 signature over the ID, the user and the time.
struct PushVerifier: Sendable {
    let keys: PushKeySet
    /// The oldest signature, in seconds.
    let maxAge: TimeInterval

    /// Checks a push.
    ///
    /// - Parameters:
    ///   - userName: the user of the device.
    ///   - date: now.
    /// - Returns: `nil` if the push is genuine; otherwise the reason to ignore it.
    func fault(of push: IncomingPush, for userName: String, at date: Date) -> DiagnosticCode? {
        guard let id = push.id, let timestamp = push.timestamp, let seconds = Self.seconds(timestamp),
            let signature = push.signature.flatMap({ Base64URL.decode($0) }), signature.count == 64
        else { return .badSignature }
        let text = Self.signedText(id: id, userName: userName, timestamp: timestamp, isWithdrawal: push.isWithdrawal)
        let isGenuine = keys.keys.contains { key in
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
            return key.isValidSignature(signature, for: text)
        }
        guard isGenuine else { return .badSignature }
        // A time in the future is a clock that is behind. The signature says that the server wrote it.
        return date.timeIntervalSince1970 - seconds > maxAge ? .tooOld : nil
    }

    /// The bytes that the server signs.
    static func signedText(id: PushID, userName: String, timestamp: String, isWithdrawal: Bool) -> Data {
        Data("securepush-push-v1\n\(id)\n\(userName)\n\(timestamp)\n\(isWithdrawal ? "withdraw\n" : "")".utf8)
    }

    /// A time of 1 to 12 digits, without a sign and without a zero in front.
    private static func seconds(_ text: String) -> TimeInterval? {
        let digits = text.utf8
        guard (1...12).contains(digits.count), digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            digits.first != UInt8(ascii: "0") || digits.count == 1
        else { return nil }
        return TimeInterval(text)
    }
}
