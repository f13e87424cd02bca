import Foundation
import StackKit

/// The files of hubs of one's own: the rules, and the credentials of their push service (contract-hub, K1 and K2).
enum HubFiles {
    static let hub = "hub"
    static let rule = "DefaultFullSharedAccessSignature"

    /// Named from the folder that the services run in.
    static let settings = ["HUB_ACCESS_FILE": "hub-access", "PUSH_CREDENTIALS_FILE": "push-credentials.json"]

    private struct Credentials: Encodable {
        struct WebPush: Encodable {
            let privateKeyFile: String
            let subject: String
            let allowedHosts: [String]
        }
        let webPush: WebPush
        let caFile: String
    }

    static func write(_ secrets: StackSecrets, to folder: URL, service: FakePushService) throws {
        try secrets.write("hub-access", "\(hub) \(rule) Manage \(secrets.hubKey)", folder)
        try secrets.write("vapid.pem", secrets.webPushKeyPEM, folder)
        let credentials = Credentials(
            webPush: .init(
                privateKeyFile: "vapid.pem", subject: "mailto:chaos@example.org",
                allowedHosts: ["localhost:\(service.port)"]),
            caFile: service.authorityFile)
        let json = try JSONEncoder().encode([hub: credentials])
        try secrets.write("push-credentials.json", String(decoding: json, as: UTF8.self), folder)
    }
}
