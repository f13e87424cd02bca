/// Why an envelope cannot be made or opened. It says nothing of the content.
public enum EnvelopeError: Error, Sendable, Hashable {
    /// A key is not one of X25519.
    case malformedKey
    /// The body is not the answer of `GET /api/recipients/{name}/keys`.
    case malformedAnswer
    /// There is no device to encrypt for, or there are more than ``Envelope/maxDevices``.
    case wrongNumberOfDevices
    /// The content is longer than ``Envelope/maxContentBytes``.
    case tooLong
    /// The envelope has no key for this device: it was registered later, or its key was lost.
    case notForThisDevice
    /// The envelope is malformed or was changed, or it was made for another recipient or another key.
    case unopenable
}

extension EnvelopeError: CustomStringConvertible {
    /// A sentence for a log, without keys and content.
    public var description: String {
        switch self {
        case .malformedKey: "The key is not a JSON Web Key of X25519."
        case .malformedAnswer: "The answer is not a list of keys."
        case .wrongNumberOfDevices: "An envelope is for 1 to \(Envelope.maxDevices) devices."
        case .tooLong: "The content is longer than \(Envelope.maxContentBytes) bytes."
        case .notForThisDevice: "The envelope has no key for this device."
        case .unopenable: "The envelope cannot be opened."
        }
    }
}
