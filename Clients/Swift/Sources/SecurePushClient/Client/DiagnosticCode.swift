/// Why the user sees the generic text: a short code for support, such as `SP-401`. It says nothing of the secret.
public struct DiagnosticCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code.
    public let rawValue: String

    /// Makes a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The code, for example `SP-404`.
    public var description: String { rawValue }

    /// The server answered with this HTTP status: `SP-404`.
    public static func status(_ status: Int) -> DiagnosticCode { DiagnosticCode(rawValue: "SP-\(status)") }

    /// Nobody is logged in, so nothing was asked.
    public static let loggedOut = DiagnosticCode(rawValue: "SP-LOGIN")
    /// The credentials could not be read or refreshed now.
    public static let credentials = DiagnosticCode(rawValue: "SP-CREDENTIALS")
    /// The time was up.
    public static let timedOut = DiagnosticCode(rawValue: "SP-TIMEOUT")
    /// No connection to the server.
    public static let unreachable = DiagnosticCode(rawValue: "SP-OFFLINE")
    /// The server's certificate is not trusted.
    public static let untrusted = DiagnosticCode(rawValue: "SP-TLS")
    /// The answer is longer than ``ClientLimits/maxAnswerBytes``.
    public static let tooLarge = DiagnosticCode(rawValue: "SP-SIZE")
    /// The answer is not the JSON that it should be.
    public static let malformedAnswer = DiagnosticCode(rawValue: "SP-JSON")
    /// The answer is for another ID.
    public static let wrongID = DiagnosticCode(rawValue: "SP-ID")
    /// The notification is end-to-end encrypted, and not for this device: it was registered later, or has lost its key.
    public static let noKey = DiagnosticCode(rawValue: "SP-KEY")
    /// The notification is end-to-end encrypted, and cannot be opened.
    public static let unopenable = DiagnosticCode(rawValue: "SP-DECRYPT")
    /// The envelope was opened before under another notification, or its time is too far from now.
    public static let replayed = DiagnosticCode(rawValue: "SP-REPLAY")
    /// The envelope is not signed by one of ``SecurePushConfiguration/senderKeys``.
    public static let unknownSender = DiagnosticCode(rawValue: "SP-SENDER")
    /// The notification is not end-to-end encrypted, and the app requires that.
    public static let notEncrypted = DiagnosticCode(rawValue: "SP-PLAIN")
    /// The notification has expired.
    public static let expired = DiagnosticCode(rawValue: "SP-EXPIRED")
    /// The device could not note that it has opened an envelope, so the content is not shown yet.
    public static let notStored = DiagnosticCode(rawValue: "SP-STORE")
    /// The push has no ID that can be used.
    public static let malformedPush = DiagnosticCode(rawValue: "SP-PUSH")
    /// The push has no valid signature.
    public static let badSignature = DiagnosticCode(rawValue: "SP-SIGNATURE")
    /// The push was signed more than 28 days ago, or for a time more than a day ahead.
    public static let tooOld = DiagnosticCode(rawValue: "SP-AGE")
    /// The device was not unlocked since it started, so neither credentials nor store can be read.
    public static let locked = DiagnosticCode(rawValue: "SP-LOCKED")
    /// The alert says nothing new, because the secret was shown before or was withdrawn, and the system cannot suppress
    /// it.
    public static let nothingNew = DiagnosticCode(rawValue: "SP-SEEN")
    /// The system refused to show the secret.
    public static let notPresented = DiagnosticCode(rawValue: "SP-SHOW")
}

extension DiagnosticCode {
    /// Whether this device will never show the content, although the server has it. The user sees the generic text.
    var isOfEnvelope: Bool {
        [.noKey, .unopenable, .replayed, .unknownSender, .notEncrypted].contains(self)
    }
}
