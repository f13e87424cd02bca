import Foundation

extension FakePushService {
    /// Where a request goes.
    package enum Endpoint: String, Sendable { case push, token }

    /// A device that the service has made.
    package struct Device: Sendable, Decodable {
        package let id: String
        /// A device token of APNs in lower-case hex, a registration token or Firebase installation ID, a channel URI, or the
        /// endpoint of a subscription.
        package let handle: String
        /// The keys of a subscription in base64url; `nil` for the other kinds.
        package let p256dh, auth: String?
    }

    /// The kind of device, with what its service binds it to.
    package enum Platform: Sendable, Encodable {
        /// - Parameters:
        ///   - key: the sender's public key in base64url; `nil` for any.
        ///   - service: whose rules and error bodies they have: `apple`, `google`, `mozilla` or `windows`.
        case webPush(key: String?, service: String = "apple")
        /// - Parameter environment: `production` or `sandbox`; `nil` for that of the service (its option `--environment`,
        ///   `production` by default).
        case apns(topic: String, environment: String? = nil)
        /// - Parameter isInstallation: a Firebase installation ID, which goes into `fid`, instead of a token.
        case fcm(project: String, isInstallation: Bool = false)
        /// - Parameter app: a package SID (`ms-app://…`), or the client ID of an app in Entra.
        case wns(app: String)

        private enum CodingKeys: String, CodingKey { case key, service, topic, environment, project, handle, app }

        package func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .webPush(let key, let service):
                try values.encode(key, forKey: .key)
                try values.encode(service, forKey: .service)
            case .apns(let topic, let environment):
                try values.encode(topic, forKey: .topic)
                try values.encodeIfPresent(environment, forKey: .environment)
            case .fcm(let project, let isInstallation):
                try values.encode(project, forKey: .project)
                try values.encode(isInstallation ? "fid" : "token", forKey: .handle)
            case .wns(let app): try values.encode(app, forKey: .app)
            }
        }
    }

    struct MadeDevices: Encodable {
        let count: Int
        let platform: Platform

        private enum CodingKeys: CodingKey { case count }

        /// The members of the platform stand beside the count.
        func encode(to encoder: any Encoder) throws {
            try platform.encode(to: encoder)
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(count, forKey: .count)
        }
    }

    /// What a sender proves that it is one. Public keys are SubjectPublicKeyInfo in PEM.
    package enum Credential: Sendable, Encodable {
        /// - Parameters:
        ///   - topics: the only ones of the key; `nil` for all.
        ///   - environment: the only one of the key; `nil` for both.
        case apns(
            team: String, keyID: String, publicKeyPEM: String, topics: [String]? = nil, environment: String? = nil)
        /// A service account.
        ///
        /// - Parameter maySend: `false` for one without the right to send (403 `PERMISSION_DENIED`).
        case fcm(project: String, clientEmail: String, publicKeyPEM: String, maySend: Bool = true)
        /// - Parameters:
        ///   - app: a package SID (`ms-app://…`), or the client ID of an app in Entra.
        ///   - tenant: of an app in Entra; `nil` for a package SID.
        case wns(app: String, secret: String, tenant: String? = nil)

        private enum CodingKeys: String, CodingKey {
            case team, keyID, publicKey, topics, environment, project, clientEmail, maySend, app, secret, tenant
        }

        package func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .apns(let team, let keyID, let publicKeyPEM, let topics, let environment):
                try values.encode(team, forKey: .team)
                try values.encode(keyID, forKey: .keyID)
                try values.encode(publicKeyPEM, forKey: .publicKey)
                try values.encodeIfPresent(topics, forKey: .topics)
                try values.encodeIfPresent(environment, forKey: .environment)
            case .fcm(let project, let clientEmail, let publicKeyPEM, let maySend):
                try values.encode(project, forKey: .project)
                try values.encode(clientEmail, forKey: .clientEmail)
                try values.encode(publicKeyPEM, forKey: .publicKey)
                try values.encode(maySend, forKey: .maySend)
            case .wns(let app, let secret, let tenant):
                try values.encode(app, forKey: .app)
                try values.encode(secret, forKey: .secret)
                try values.encodeIfPresent(tenant, forKey: .tenant)
            }
        }
    }

    /// A push that the service has accepted.
    package struct Push: Sendable, Decodable {
        package let number: Int
        /// ``Device/id``.
        package let device: String
        /// In seconds since 1970.
        package let time: Double
        /// The headers of the request, with names in lower case; without `authorization`.
        package let headers: [String: String]
        /// Whose token it had: a public key in base64url (Web Push), a key ID (APNs), the address of a service account (FCM),
        /// a package SID or client ID (WNS).
        package let sender: String
        /// The size of the body as it was sent.
        package let size: Int
        /// `sent`, `lost` if the sender got no answer, or `doubtful` if it may have got none.
        package let answer: String
        private let base64: String?

        /// The body, which http_ece has decrypted if it is of a Web Push; `nil` if the service decrypts only some of them.
        package var body: [UInt8]? { base64.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) } }
        /// The body as UTF-8.
        package var text: String? { body.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// A request that the service has refused, beside its faults.
    package struct Refusal: Sendable, Decodable {
        package let status: Int
        /// The vendor's word, such as `BadDeviceToken`, `UNREGISTERED` or `invalid_grant`.
        package let reason: String
        /// More for people; may be empty.
        package let detail: String
    }

    package struct KnownAnswer: Sendable, Decodable {
        package let status: Int
        package let reason: String
    }

    package struct State: Sendable, Decodable {
        /// Such as `requests.all`, `accepted.all`, `connections.h2`, `refused.410 Unregistered`, `faults.503`,
        /// `tokens.requests`.
        package let counts: [String: Int]
        /// Mistakes of the sender that no answer can tell, such as more streams than SETTINGS allow.
        package let problems: [String]
        /// How many tokens each ``Push/sender`` has made (Web Push, APNs) or was given (FCM, WNS).
        package let tokens: [String: Int]
    }
}
