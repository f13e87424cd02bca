import Foundation
import StackKit

/// The files of hubs of one's own: the rules, and the credentials of their push services (contract-hub, K1 and K2).
enum HubFiles {
    static let hub = "hub"
    static let rule = "DefaultFullSharedAccessSignature"

    /// Named from the folder that the services run in.
    static let settings = ["HUB_ACCESS_FILE": "hub-access", "PUSH_CREDENTIALS_FILE": "push-credentials.json"]

    private struct Content: Encodable {
        struct APNs: Encodable {
            var keyFile = "apns.p8"
            var keyId = HubCredentials.keyID
            var teamId = HubCredentials.team
            var topic = HubCredentials.topic
            let endpoint: String
        }
        struct FCM: Encodable {
            var serviceAccountFile = "service-account.json"
            let endpoint, tokenEndpoint: String
        }
        struct WNS: Encodable {
            var tenant = HubCredentials.tenant
            var clientId = HubCredentials.clientID
            var clientSecretFile = "wns-secret"
            let tokenEndpoint: String
            let allowedHosts: [String]
        }
        struct WebPush: Encodable {
            var privateKeyFile = "vapid.pem"
            var subject = "mailto:chaos@example.org"
            let allowedHosts: [String]
        }
        var apns: APNs?
        var fcm: FCM?
        var wns: WNS?
        var webPush: WebPush?
        let caFile: String
    }

    private struct Account: Encodable {
        let type = "service_account"
        let project_id = HubCredentials.project
        let private_key_id = "1"
        let private_key: String
        let client_email = HubCredentials.clientEmail
        let token_uri = "https://oauth2.googleapis.com/token"
    }

    static func write(
        _ secrets: StackSecrets, _ credentials: HubCredentials, to folder: URL, services: [FakePushService]
    ) throws {
        func write(_ name: String, _ value: some Encodable) throws {
            try secrets.write(name, String(decoding: try JSONEncoder().encode(value), as: UTF8.self), folder)
        }
        try secrets.write("hub-access", "\(hub) \(rule) Manage \(secrets.hubKey)", folder)
        var content = Content(caFile: "authorities.pem")
        for service in services {
            let host = "localhost:\(service.port)"
            switch service.kind {
            case .apns:
                try secrets.write("apns.p8", credentials.apnsKey, folder)
                content.apns = .init(endpoint: service.origin)
            case .fcm:
                try write("service-account.json", Account(private_key: credentials.accountKeyPEM))
                content.fcm = .init(endpoint: service.origin, tokenEndpoint: service.tokenOrigin + "/token")
            case .wns:
                try secrets.write("wns-secret", credentials.clientSecret, folder)
                let path = "/\(HubCredentials.tenant)/oauth2/v2.0/token"
                content.wns = .init(tokenEndpoint: service.tokenOrigin + path, allowedHosts: [host])
            case .webPush:
                try secrets.write("vapid.pem", credentials.webPushKey, folder)
                content.webPush = .init(allowedHosts: [host])
            }
        }
        let authorities = try services.map { try String(contentsOfFile: $0.authorityFile, encoding: .utf8) }
        try secrets.write("authorities.pem", authorities.joined(separator: "\n"), folder)
        try write("push-credentials.json", [hub: content])
    }
}
