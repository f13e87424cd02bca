import Foundation
import SecurePushClient
import Testing

/// The call that the issue names. It has to compile with the public interface only.
@Suite(.timeLimit(.minutes(10))) struct ClientInitializerTests {
    @Test func fivePartsMakeAClient() async throws {
        let clock = SimulatedClock()
        let server = SimulatedServer(clock: clock)
        server.add("01")
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url),
            credentials: FixedCredentialsProvider(userName: "alice", credentials: .bearer("token-1")),
            store: MemoryClientStore(), transport: server, clock: clock)
        // The notification centre needs an app.
        #if !canImport(UserNotifications)
        let push = IncomingPush(data: ["secureId": "01"])
        #expect(await client.handle(push: push).shown.map(\.rawValue) == ["01"])
        #expect(await client.handle(push: push).shown.isEmpty)
        #else
        #expect(await client.waiting().isEmpty)
        #endif
    }

    /// Each of the five may also be any value of its type, and a presenter may follow.
    @Test func eachPartIsReplaceable() async {
        let credentials: any CredentialsProvider = FixedCredentialsProvider(
            userName: "alice", credentials: .bearer("token-1"))
        let store: any ClientStore = MemoryClientStore()
        let transport: any Transport = URLSessionTransport()
        let clock: any ClientClock = SystemClientClock()
        let presenter: any NotificationPresenter = RecordingPresenter()
        let configuration = SecurePushConfiguration(retrievalURL: SimulatedPhone.url)
        let clients = [
            SecurePushClient(
                configuration: configuration, credentials: credentials, store: store, transport: transport,
                clock: clock),
            SecurePushClient(
                configuration: configuration, credentials: credentials, store: store, transport: transport,
                clock: clock, presenter: presenter),
        ]
        for client in clients { #expect(await client.waiting().isEmpty) }
    }
}
