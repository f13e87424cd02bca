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
    /// The push has no ID that can be used.
    public static let malformedPush = DiagnosticCode(rawValue: "SP-PUSH")
    /// The push has no valid signature.
    public static let badSignature = DiagnosticCode(rawValue: "SP-SIGNATURE")
    /// The push was signed more than 28 days ago.
    public static let tooOld = DiagnosticCode(rawValue: "SP-AGE")
    /// The device was not unlocked since it started, so neither credentials nor store can be read.
    public static let locked = DiagnosticCode(rawValue: "SP-LOCKED")
    /// The alert says nothing new, because the secret was shown before or was withdrawn, and the system cannot suppress
    /// it.
    public static let nothingNew = DiagnosticCode(rawValue: "SP-SEEN")
    /// The system refused to show the secret.
    public static let notPresented = DiagnosticCode(rawValue: "SP-SHOW")
}
