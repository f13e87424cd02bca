import SecurePushClient

/// The client of this process. The app and the service extension are two processes, and each has its own. They share
/// the credentials (keychain) and the state (app group), so a secret is shown once whoever fetches it.
struct SecurePush: Sendable {
    let client: SecurePushClient
    let credentials: TokenCredentialsProvider
    let transport: any Transport

    static let shared = SecurePush(deployment: Deployment())

    init(deployment: Deployment) {
        let store = KeychainStore(
            files: FileClientStore(directory: deployment.sharedFolder), accessGroup: deployment.keychainGroup)
        let transport = URLSessionTransport()
        let credentials = TokenCredentialsProvider(
            retrievalURL: deployment.retrievalURL, store: store, transport: transport)
        self.credentials = credentials
        self.transport = transport
        client = SecurePushClient(
            configuration: SecurePushConfiguration(
                retrievalURL: deployment.retrievalURL, pushKeys: deployment.pushKeys),
            credentials: credentials, store: store, transport: transport, presenter: UserNotificationPresenter())
    }
}
