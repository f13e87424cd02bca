import Crypto
import CryptoExtras
import StackKit

/// What a hub of one's own presents to each push service, made at random for a run.
struct HubCredentials: Sendable {
    static let topic = "org.example.app"
    static let team = "DEF1234567"
    static let keyID = "ABC1234567"
    static let project = "chaos-project"
    static let clientEmail = "push@chaos-project.iam.gserviceaccount.com"
    static let tenant = "7d1c1e2a-0000-4000-8000-000000000001"
    static let clientID = "c0ffee00-0000-4000-8000-000000000002"

    /// The VAPID key: PKCS #8 in PEM, and its public key in base64url.
    let webPushKey: String
    private let webPushPublicKey: String
    private let apnsPrivateKey = P256.Signing.PrivateKey()
    private let accountKey: _RSA.Signing.PrivateKey
    let clientSecret: String

    init(_ secrets: StackSecrets) throws {
        (webPushKey, webPushPublicKey) = (secrets.webPushKeyPEM, secrets.webPushPublicKey)
        accountKey = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        clientSecret = SymmetricKey(size: .bits256).withUnsafeBytes { bytes in
            bytes.map { String($0, radix: 16) }.joined()
        }
    }

    /// The signing key of the team: PKCS #8 in PEM, as in Apple's file.
    var apnsKey: String { apnsPrivateKey.pemRepresentation }
    /// The key of the service account: PKCS #8 in PEM.
    var accountKeyPEM: String { accountKey.pkcs8PEMRepresentation }

    /// What the push service is told of it; `nil` if it takes any key.
    func credential(_ kind: FakePushService.Kind) -> FakePushService.Credential? {
        switch kind {
        case .webPush: nil
        case .apns:
            .apns(
                team: Self.team, keyID: Self.keyID, publicKeyPEM: apnsPrivateKey.publicKey.pemRepresentation,
                topics: [Self.topic], environment: "production")
        case .fcm:
            .fcm(
                project: Self.project, clientEmail: Self.clientEmail,
                publicKeyPEM: accountKey.publicKey.pemRepresentation)
        case .wns: .wns(app: Self.clientID, secret: clientSecret, tenant: Self.tenant)
        }
    }

    /// The forms of devices that the push service has.
    func forms(_ kind: FakePushService.Kind) -> [FakePushService.Platform] {
        switch kind {
        case .webPush: ["apple", "google", "mozilla", "windows"].map { .webPush(key: webPushPublicKey, service: $0) }
        case .apns: [.apns(topic: Self.topic)]
        case .fcm: [.fcm(project: Self.project), .fcm(project: Self.project, isInstallation: true)]
        case .wns: [.wns(app: Self.clientID)]
        }
    }

    /// No log may have one of these.
    var secrets: [String] {
        let lines = [webPushKey, apnsKey, accountKeyPEM].flatMap { $0.split(separator: "\n") }
        return lines.filter { !$0.hasPrefix("-") }.map(String.init) + [clientSecret]
    }
}
