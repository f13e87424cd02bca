import Foundation
import SecurePushClient

/// The deployment, as `Deployment.xcconfig` writes it into both `Info.plist` files. Nothing of it comes from a push.
struct Deployment: Sendable {
    /// The service that devices call.
    let retrievalURL: URL
    /// The service that takes "Send push"; the extension has none.
    let ingestURL: URL?
    /// The folder that app and extension share.
    let sharedFolder: URL
    /// The keychain group that app and extension share.
    let keychainGroup: String
    /// The keys that verify pushes: `push-verification-keys.json` in `Common`, the public key file of
    /// `securepush keys generate --push`. Without it nothing is verified.
    let pushKeys: PushKeySet?

    /// Reads `Info.plist`. A value that is missing is a mistake in the project, so the first start stops there.
    init(bundle: Bundle = .main) {
        func value(_ key: String) -> String? { bundle.object(forInfoDictionaryKey: key) as? String }
        guard let retrieval = value("SecurePushRetrievalURL").flatMap(URL.init(string:)),
            let appGroup = value("SecurePushAppGroup"), let keychain = value("SecurePushKeychainGroup")
        else { preconditionFailure("Info.plist has no SecurePushRetrievalURL, app group or keychain group") }
        guard let folder = Self.container(of: appGroup) else {
            preconditionFailure("The app group \(appGroup) is not in the entitlements")
        }
        retrievalURL = retrieval
        ingestURL = value("SecurePushIngestURL").flatMap(URL.init(string:))
        sharedFolder = folder.appendingPathComponent("SecurePush", isDirectory: true)
        keychainGroup = keychain
        pushKeys = bundle.url(forResource: "push-verification-keys", withExtension: "json").map(Self.readKeys)
    }

    private static func container(of appGroup: String) -> URL? {
        FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroup)
    }

    /// An unusable file must not turn verification off.
    private static func readKeys(_ file: URL) -> PushKeySet {
        do {
            return try PushKeySet(jwkSet: Data(contentsOf: file))
        } catch {
            preconditionFailure("push-verification-keys.json cannot be used: \(error)")
        }
    }
}
