public import Foundation

/// The keys of a recipient's devices, as `GET /api/recipients/{name}/keys` gives them to a sender.
///
/// Get them for every notification: a device that was added since the last one cannot read what is not encrypted for
/// it, and a device that was removed must not read it any more. Compare them with ``RecipientPins`` before you use them:
/// the server could add a key of its own.
public struct RecipientKeys: Sendable, Hashable {
    /// The keys by the IDs of the devices. If it is empty, no device could read an envelope.
    public let devices: [String: EnvelopeKey]
    /// The IDs of devices whose keys this version cannot use. They show their generic text.
    public let unusable: [String]

    /// Reads the body of the answer.
    ///
    /// - Throws: ``EnvelopeError/malformedAnswer``.
    public init(answer: Data) throws(EnvelopeError) {
        guard answer.count <= Self.maxBytes, let entries = (try? StrictJSON(answer))?["Keys"]?.elements,
            entries.count <= Envelope.maxDevices
        else { throw .malformedAnswer }
        var devices: [String: EnvelopeKey] = [:]
        var unusable: [String] = []
        for entry in entries {
            guard let device = entry["DeviceId"]?.text, Envelope.isInstallationID(device), devices[device] == nil
            else { throw .malformedAnswer }
            if let key = entry["Key"].flatMap({ try? EnvelopeKey($0) }) {
                devices[device] = key
            } else {
                unusable.append(device)
            }
        }
        (self.devices, self.unusable) = (devices, unusable)
    }

    /// Encrypts a content for all these devices.
    ///
    /// - Parameters:
    ///   - content: the JSON text that would otherwise be the `Payload`, in UTF-8.
    ///   - recipient: the user whose keys these are.
    ///   - expiry: from then on devices do not show it. Use the notification's `ExpiresAt`.
    ///   - sender: signs the envelope.
    /// - Returns: the JSON text for `Payload`.
    /// - Throws: ``EnvelopeError``; ``EnvelopeError/wrongNumberOfDevices`` if there are no keys.
    public func seal(
        _ content: Data, for recipient: String, expiresAt expiry: Date? = nil, signedBy sender: SenderKey? = nil
    ) throws(EnvelopeError) -> String {
        try Envelope.seal(content, for: recipient, devices: devices, expiresAt: expiry, signedBy: sender)
    }

    /// The path of the keys of a recipient in the ingest API, with the name percent-encoded.
    public static func path(of recipient: String) -> String {
        // RFC 3986, section 2.3; a slash or a percent sign in a name is not one of the path.
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        let name = recipient.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        return "/api/recipients/\(name)/keys"
    }

    /// The longest answer, in bytes: many times that of 100 devices.
    private static let maxBytes = 1 << 20
}
