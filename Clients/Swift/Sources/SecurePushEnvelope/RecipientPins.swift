public import Foundation

/// The keys that a sender has seen of each recipient, so that the server cannot add or exchange one unnoticed: trust on
/// first use.
///
/// A device makes a new key every 30 days. So keys change in honest ways too; accept them when the user confirms the new
/// fingerprint, which the app shows.
public struct RecipientPins: Sendable, Hashable {
    /// The thumbprints (RFC 7638) by device, by recipient.
    private var recipients: [String: [String: Data]] = [:]

    /// A key that was not seen before.
    public struct Change: Sendable, Hashable {
        /// The ID of the device.
        public let device: String
        /// The fingerprint of the device's former key; `nil` for a new device.
        public let former: String?
        /// The fingerprint of the key that the server gives now.
        public let current: String
    }

    /// No recipient is known.
    public init() {}

    /// Reads what ``json`` has written.
    ///
    /// - Throws: ``EnvelopeError/malformedAnswer``. Do not begin anew then: somebody may have damaged the file.
    public init(json: Data) throws(EnvelopeError) {
        guard json.count <= Self.maxBytes, let document = try? StrictJSON(json), document["pins"]?.number == "1",
            let entries = document["recipients"]?.members
        else { throw .malformedAnswer }
        for (recipient, devices) in entries {
            var keys: [String: Data] = [:]
            for (device, value) in devices.members ?? [] {
                guard Envelope.isInstallationID(device), let thumbprint = value.text.flatMap({ Base64URL.decode($0) }),
                    thumbprint.count == 32
                else { throw .malformedAnswer }
                keys[device] = thumbprint
            }
            // Names are bytes: two that only look the same are never one.
            guard !keys.isEmpty, recipients.updateValue(keys, forKey: Self.name(recipient)) == nil else {
                throw .malformedAnswer
            }
        }
    }

    /// The pins as JSON, for a file that only the sender can change.
    public var json: Data {
        let lines = recipients.sorted { $0.key < $1.key }.map { name, devices in
            let keys = devices.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#(EnvelopeJSON.string($0.value))"# }
            let recipient = EnvelopeJSON.string(String(decoding: Base64URL.decode(name) ?? Data(), as: UTF8.self))
            return "\(recipient):{\(keys.joined(separator: ","))}"
        }
        return Data("{\"pins\":1,\"recipients\":{\n\(lines.joined(separator: ",\n"))\n}}\n".utf8)
    }

    /// Compares a recipient's keys with those that were seen before. The keys of a recipient that was never seen have no
    /// changes. A device that is gone is no change.
    public func changes(_ keys: RecipientKeys, of recipient: String) -> [Change] {
        guard let known = recipients[Self.name(recipient)] else { return [] }
        return keys.devices.sorted { $0.key < $1.key }.compactMap { device, key in
            let former = known[device]
            guard former != key.thumbprint else { return nil }
            return Change(
                device: device, former: former.map { EnvelopeKey.fingerprint(of: $0) }, current: key.fingerprint)
        }
    }

    /// Remembers a recipient's keys: at the first use, or after somebody has confirmed the changes. Devices that are gone
    /// are kept, so that one that returns must have its old key.
    public mutating func accept(_ keys: RecipientKeys, of recipient: String) {
        for (device, key) in keys.devices {
            recipients[Self.name(recipient), default: [:]][device] = key.thumbprint
        }
    }

    /// The longest file, in bytes.
    public static let maxBytes = 64 << 20

    /// Strings of Swift that are canonically equal are one key of a dictionary. So the bytes are the key.
    private static func name(_ recipient: String) -> String { Base64URL.encode(Data(recipient.utf8)) }
}
