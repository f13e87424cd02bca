/// Why an envelope cannot be made or opened. It says nothing of the content.
public enum EnvelopeError: Error, Sendable, Hashable {
    /// A key is not one of P-256.
    case malformedKey
    /// The body is not the answer of `GET /api/recipients/{name}/keys`.
    case malformedAnswer
    /// There is no device to encrypt for, or there are more than ``Envelope/maxDevices``.
    case wrongNumberOfDevices
    /// The content is longer than ``Envelope/maxContentBytes``.
    case tooLong
    /// The content is not JSON in the sense of ``StrictJSON``, so no device would show it.
    case notJSON
    /// The envelope is malformed or was changed, or it was made for another recipient or another key: `SP-DECRYPT`.
    case unopenable
    /// The envelope has no valid signature of one of the configured senders: `SP-SENDER`.
    case wrongSender
    /// The envelope has no key for this device: it was registered later, or its key was lost. `SP-KEY`.
    case notForThisDevice
    /// The device's private key cannot be used now. Try again later.
    case keyUnavailable
    /// The envelope was opened before, is more than 90 days old, or is from the future: `SP-REPLAY`.
    case replayed
    /// The envelope has expired: `SP-EXPIRED`.
    case expired
}

extension EnvelopeError: CustomStringConvertible {
    /// A sentence for a log, without keys and content.
    public var description: String {
        switch self {
        case .malformedKey: "The key is not one of P-256."
        case .malformedAnswer: "The answer is not a list of keys."
        case .wrongNumberOfDevices: "An envelope is for 1 to \(Envelope.maxDevices) devices."
        case .tooLong: "The content is longer than \(Envelope.maxContentBytes) bytes."
        case .notJSON: "The content is not JSON, or it has repeated names or too many levels."
        case .unopenable: "The envelope cannot be opened."
        case .wrongSender: "The envelope is not signed by a sender that this device knows."
        case .notForThisDevice: "The envelope has no key for this device."
        case .keyUnavailable: "The private key cannot be used now."
        case .replayed: "The envelope was opened before, or is not of the last 90 days."
        case .expired: "The envelope has expired."
        }
    }
}
