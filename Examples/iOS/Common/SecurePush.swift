import SecurePushClient

/// The client of this process. The app and the service extension are two processes, and each has its own. They share
/// the credentials (keychain) and the state (app group), so only one of them shows a secret.
struct SecurePush: Sendable {
    let client: SecurePushClient
    let credentials: TokenCredentialsProvider
    let transport: any Transport

    /// Makes the client.
    ///
    /// - Parameter setBadge: sets the number on the icon, which needs the app before iOS 16.
    init(deployment: Deployment, setBadge: @escaping @Sendable (Int) async -> Void = { _ in }) {
        let store = KeychainStore(
            files: FileClientStore(folder: deployment.sharedFolder), accessGroup: deployment.keychainGroup)
        let transport = URLSessionTransport()
        let credentials = TokenCredentialsProvider(
            retrievalURL: deployment.retrievalURL, store: store, transport: transport)
        self.credentials = credentials
        self.transport = transport
        client = SecurePushClient(
            configuration: SecurePushConfiguration(
                retrievalURL: deployment.retrievalURL, pushKeys: deployment.pushKeys, encryptsEndToEnd: true),
            credentials: credentials, store: store, transport: transport,
            presenter: UserNotificationPresenter(setBadge: setBadge))
    }
}
