import Foundation
import SecurePushClient

/// The tutorial's "Send push": `POST /api/notifications` with an empty body and the user's own credentials. A real app
/// does not send; its application server does, with an API key.
struct ConfirmationSender: Sendable {
    let ingestURL: URL
    let push: SecurePush

    /// - Throws: ``SecurePushFailure`` unless ingest has stored the notification (201).
    func send() async throws {
        guard let credentials = try await push.credentials.credentials() else {
            throw SecurePushFailure(code: .loggedOut)
        }
        var status = try await post(credentials)
        if status == 401, let renewed = try await push.credentials.refresh(after: credentials) {
            status = try await post(renewed)
        }
        guard status == 201 else { throw SecurePushFailure(code: .status(status)) }
    }

    private func post(_ credentials: ClientCredentials) async throws -> Int {
        let request = TransportRequest(
            method: "POST", url: ingestURL.appendingPathComponent("api/notifications"),
            headers: ["Authorization": credentials.authorization])
        do {
            return try await push.transport.send(request, timeout: 8, maxBytes: 64 << 10).status
        } catch is TransportError {
            throw SecurePushFailure(code: .unreachable)
        }
    }
}
