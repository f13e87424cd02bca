import Domain
import Foundations
import NIOCore

@testable import NotificationHubs

extension Operation {
    /// The pushes of a notification on their way to the hub.
    static var hub: [Operation] {
        [
            .repeating("hub.write-requests.3", count: 1000) { _ in
                let plan = Samples.plan()
                var writer = HubRequestWriter(configuration: try hubConfiguration())
                let token = SharedAccessToken(text: String(repeating: "t", count: 200), number: 1, renewAt: .now)
                var buffer = ByteBuffer()
                buffer.reserveCapacity(2048)
                return {
                    let data = PushData(plan)
                    for platform in Samples.platforms {
                        buffer.clear()
                        guard let notification = plan.notification(for: platform, now: .now, data),
                            writer.write(notification, token: token, into: &buffer)
                        else { throw Unexpected("There is no request.") }
                    }
                }
            },
            .repeating("hub.make-token", count: 500) { _ in
                let configuration = try hubConfiguration()
                let signature = SharedAccessSignature(
                    resource: configuration.resource, keyName: configuration.keyName, key: configuration.key)
                return { keep(signature.token(expiresAt: 1_790_000_000)) }
            },
            .repeating("push.sign", count: 50) { _ in
                let (signer, id) = (PushSigner(key: PushSigningKey()), NotificationID())
                return { keep(signer.sign(id, for: Samples.recipient, now: .now)) }
            },
        ]
    }

    private static func hubConfiguration() throws -> NotificationHubConfiguration {
        try NotificationHubConfiguration(
            connectionString: "Endpoint=http://127.0.0.1:9000/;SharedAccessKeyName=Rule;SharedAccessKey=secret-key=",
            hubName: "hub")
    }
}
