import Domain
import Foundations
import PushServices

/// The credentials of all hubs, as a version of `PUSH_CREDENTIALS_FILE` and the files that it names say.
struct PushCredentials: Sendable {
    /// By the hubs' names in lower case.
    var hubs: [String: HubCredentials]
    /// The files that the file names, as they were read.
    var files: [FileVersion]
    /// Their paths as the file names them.
    var fileNames: [String]
    /// Those with secrets that other users can access, each with its name and the problem.
    var openFiles: [String] = []
}

/// The credentials of one hub.
struct HubCredentials: Sendable, Hashable {
    /// As written in the file.
    var name: String
    var platforms: [PushPlatform: PlatformCredentials] = [:]
    /// The authorities in PEM that are trusted besides the system's: the text of `caFile`; `nil` for none. Another text
    /// makes other connectors.
    var authorities: String?
}

/// The push services, by their members in the file.
enum PushPlatform: String, CaseIterable, Sendable, Hashable {
    case apns, fcm, wns, webPush

    /// For people.
    var title: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        case .wns: "WNS"
        case .webPush: "Web Push"
        }
    }

    /// The formats of sends, and the platforms of devices, that the push service is for.
    var formats: [NotificationFormat] {
        switch self {
        case .apns: [.apple]
        case .fcm: [.fcmv1, .gcm]
        case .wns: [.windows]
        case .webPush: [.browser]
        }
    }
}

/// The credentials that a hub presents to a push service. Two values with the same content are equal.
enum PlatformCredentials: Sendable, Hashable {
    /// Pushes go to simulated devices.
    case simulated
    case apns(APNsCredentials)
    case fcm(FCMCredentials)
    case wns(WNSCredentials)
    case webPush(WebPushCredentials)
}

/// Apple's push service, with a signing key.
struct APNsCredentials: Sendable, Hashable {
    /// The private key in PEM: P-256 in PKCS#8.
    var key: String
    var keyID: String
    var teamID: String
    /// The app's bundle ID.
    var topic: String
    var environment = APNsConfiguration.Environment.production
    /// Stands in for Apple's servers in tests and behind proxies.
    var endpoint: String?

    /// - Throws: ``SetupError`` that names the member that cannot be used.
    var configuration: APNsConfiguration {
        get throws(SetupError) {
            try APNsConfiguration(
                key: ES256Key(pem: key), keyID: keyID, teamID: teamID, topic: topic, environment: environment,
                endpoint: endpoint)
        }
    }
}

/// Google's push service, with the key of a service account.
struct FCMCredentials: Sendable, Hashable {
    var projectID: String
    var clientEmail: String
    var keyID: String?
    /// RSA, in PEM.
    var privateKey: String
    /// Where access tokens come from, as the account's file says.
    var tokenURI: String
    /// Stands in for `tokenURI` in tests and behind proxies.
    var tokenEndpoint: String?
    /// Stands in for Google's servers in tests.
    var endpoint: String?

    /// The only host that a service account may name for its tokens.
    static let tokenHost = "oauth2.googleapis.com"

    /// - Throws: ``SetupError`` that names the member that cannot be used.
    var configuration: FCMConfiguration {
        get throws(SetupError) {
            try FCMConfiguration(
                projectID: projectID, clientEmail: clientEmail, keyID: keyID, privateKey: privateKey,
                tokenEndpoint: tokenEndpoint ?? tokenURI, audience: tokenURI, endpoint: endpoint)
        }
    }
}

/// Microsoft's push service.
struct WNSCredentials: Sendable, Hashable {
    var identity: WNSConfiguration.Identity
    var clientSecret: String
    var tokenEndpoint: String?
    /// Hosts of channels besides those below `notify.windows.com`.
    var allowedHosts: [String] = []

    /// - Throws: ``SetupError`` that names the member that cannot be used.
    var configuration: WNSConfiguration {
        get throws(SetupError) {
            try WNSConfiguration(
                identity: identity, clientSecret: clientSecret, tokenEndpoint: tokenEndpoint,
                allowedHosts: allowedHosts)
        }
    }
}

/// The push services of browsers and UnifiedPush, with keys for VAPID (RFC 8292).
struct WebPushCredentials: Sendable, Hashable {
    /// The private key in PEM: P-256 in PKCS#8.
    var key: String
    /// Keys used before, the newest first.
    var previousKeys: [String] = []
    /// `mailto:` or `https:`, for the push services' operators.
    var subject: String
    /// Hosts of endpoints besides the built-in ones: `host`, `host:port` or `*.example.org`.
    var allowedHosts: [String] = []

    /// - Throws: ``SetupError`` that names the member that cannot be used.
    var configuration: WebPushConfiguration {
        get throws(SetupError) {
            try WebPushConfiguration(
                key: ES256Key(pem: key),
                previousKeys: previousKeys.map { pem throws(SetupError) in try ES256Key(pem: pem) },
                subject: subject, allowedHosts: allowedHosts)
        }
    }
}
