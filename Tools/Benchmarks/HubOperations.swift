import Domain
import Foundations
import NIOCore

@testable import NotificationHubs

extension Operation {
    /// The pushes of a notification on their way to the hub, and the hub's response to one.
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
            Operation.repeating("hub.read-response", count: 5000) { _ in
                var parser = HubResponseParser()
                let bytes = ByteBuffer(string: hubResponse)
                return {
                    guard try parser.consume(bytes)?.status == 201 else { throw Unexpected("It is not a 201.") }
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

    /// As Azure answers a send, without a body.
    private static let hubResponse = """
        HTTP/1.1 201 Created\r
        Content-Length: 0\r
        Content-Type: application/json; charset=utf-8\r
        Location: https://ns.servicebus.windows.net/hub/messages/3d2b0c7e-0f4b-4c43-a1c5-1d7f4e5a6b01?api-version=1\r
        Server: Microsoft-HTTPAPI/2.0\r
        TrackingId: 9b6c1f2a-1111-2222-3333-444455556666_G1\r
        Date: Sun, 22 Nov 2026 22:00:00 GMT\r
        \r

        """
}
