import Foundation
import Foundations
import SecurePushEnvelope

extension SendCommand {
    /// A recipient with the keys of the devices that will be able to read the payload.
    struct EncryptionTarget: Sendable {
        var recipient: String
        var keys: RecipientKeys
    }

    /// Encrypts the payload for each recipient and sends each their own. A request of this form has one recipient,
    /// because the encryption authenticates the recipient's name.
    ///
    /// - Returns: the IDs.
    /// - Throws: ``CommandFailure``; nothing is sent if a recipient has no device with a key.
    func sendEncrypted(
        to recipients: [String], payload text: String, on console: Console
    ) async throws -> [String] {
        var ids: [String] = []
        let client = try ingest.client()
        let wanted = try notification(payload: text, now: .now)
        let sender = try encryption.senderKey()
        let targets = try await targets(recipients, client)
        for line in try encryption.check(targets) { console.message(line) }
        for (done, target) in targets.enumerated() {
            let body = try Self.encrypted(wanted, for: target, signedBy: sender).json
            let response: APIResponse
            do {
                response = try await client.request(.post, "/api/notifications", json: body)
            } catch let failure as CommandFailure {
                throw targets.count == 1 ? failure : self.failure(failure, after: done, of: targets.count)
            }
            let count = target.keys.devices.count
            let new = try SendResponse.ids(response.body)
            ids += new
            if console.isJSON {
                try console.line(Self.adding(devices: count, to: response.body.droppingLineEnd))
                continue
            }
            for id in new { try console.line(id.printable) }
            console.message(Self.summary(of: target))
        }
        return ids
    }

    /// The keys of all recipients, before anything is sent.
    private func targets(_ recipients: [String], _ client: APIClient) async throws -> [EncryptionTarget] {
        var targets: [EncryptionTarget] = []
        for recipient in recipients {
            let response = try await client.request(.get, RecipientKeys.path(of: recipient))
            guard let keys = try? RecipientKeys(answer: Data(response.body.utf8)) else {
                throw CommandFailure(
                    .failed, "The response of ingest has an unexpected form.",
                    hint: "Do ingest and this program have the same version?")
            }
            targets.append(EncryptionTarget(recipient: recipient, keys: keys))
        }
        if let failure = Self.failure(of: targets) { throw failure }
        return targets
    }

    /// Why nothing can be sent; `nil` if every recipient has a device with a key.
    static func failure(of targets: [EncryptionTarget]) -> CommandFailure? {
        let names = targets.filter { $0.keys.devices.isEmpty }.map(\.recipient.printable)
        guard let first = names.first else { return nil }
        return CommandFailure(
            .failed, "\(first) has no device with a key, so nobody could read the payload. Nothing was sent.",
            details: names.dropFirst().map { "\($0) has no device with a key either." },
            hint:
                "The app registers a key when it registers the device. Without --e2e the services can read the payload."
        )
    }

    /// The same notification for one recipient, with the payload encrypted.
    static func encrypted(
        _ body: NotificationBody, for target: EncryptionTarget, signedBy sender: SenderKey? = nil
    ) throws -> NotificationBody {
        var encrypted = body
        encrypted.recipients = [target.recipient]
        do {
            encrypted.payloadJSON = try target.keys.seal(
                Data(body.payloadJSON.utf8), for: target.recipient,
                expiresAt: body.expiresAt.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1_000) },
                signedBy: sender)
        } catch {
            throw CommandFailure(.failed, "The payload cannot be encrypted: \(ErrorText.describe(error))")
        }
        return encrypted
    }

    /// How many devices can read the payload, for people.
    static func summary(of target: EncryptionTarget) -> String {
        let count = target.keys.devices.count
        let ignored = target.keys.unusable.count
        let text = "\(target.recipient.printable): \(count == 1 ? "1 device" : "\(count) devices") can read it"
        return ignored == 0 ? text : text + "; \(ignored) keys are of an unknown kind and were left out"
    }

    /// The response, an object, with the number of devices as one more member.
    static func adding(devices count: Int, to response: String) -> String {
        guard response.hasSuffix("}") else { return response }
        return response.dropLast() + #","Devices":\#(count)}"#
    }
}
