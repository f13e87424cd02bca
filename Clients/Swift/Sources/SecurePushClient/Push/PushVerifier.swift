import Foundation
import SecurePushEnvelope

/// Checks that a push comes from the server: an ECDSA signature with P-256 and SHA-256
/// (ES256; RFC 7518, section 3.4) over the ID, the user and the time.
struct PushVerifier: Sendable {
    let keys: PushKeySet
    /// The oldest signature, in seconds.
    let maxAge: TimeInterval

    /// The answer to a push.
    enum Verdict: Sendable, Equatable {
        case genuine
        /// The server has not signed it, or too long ago.
        case refused(DiagnosticCode)
        /// Its signature may be of a key that is not known yet.
        case unknownKey
    }

    /// Checks a push.
    ///
    /// - Parameters:
    ///   - userName: the user of the device.
    ///   - date: now.
    func verdict(of push: IncomingPush, for userName: String, at date: Date) -> Verdict {
        guard let id = push.id, let timestamp = push.timestamp, let seconds = Self.seconds(timestamp),
            let signature = push.signature.flatMap({ Base64URL.decode($0) }), signature.count == 64
        else { return .refused(.badSignature) }
        let text = Self.signedText(id: id, userName: userName, timestamp: timestamp, isWithdrawal: push.isWithdrawal)
        let isGenuine = keys.keys.isValid(signature, for: text)
        let age = date.timeIntervalSince1970 - seconds
        let isTimely = age <= maxAge && age >= -Self.maxSecondsAhead
        if isGenuine { return isTimely ? .genuine : .refused(.tooOld) }
        // The newest keys would not make an old push a good one.
        return isTimely ? .unknownKey : .refused(.badSignature)
    }

    /// The bytes that the server signs.
    static func signedText(id: PushID, userName: String, timestamp: String, isWithdrawal: Bool) -> Data {
        Data("securepush-push-v1\n\(id)\n\(userName)\n\(timestamp)\n\(isWithdrawal ? "withdraw\n" : "")".utf8)
    }

    /// A day: the device's clock may be behind. Who has stolen a key could sign for later times.
    private static let maxSecondsAhead: TimeInterval = 86_400

    /// A time of 1 to 12 digits, without a sign and without a zero in front.
    private static func seconds(_ text: String) -> TimeInterval? {
        let digits = text.utf8
        guard (1...12).contains(digits.count), digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            digits.first != UInt8(ascii: "0") || digits.count == 1
        else { return nil }
        return TimeInterval(text)
    }
}
