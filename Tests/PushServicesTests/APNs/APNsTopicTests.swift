import Foundations
import StackKit
import Testing

@testable import PushServices

/// A refusal of a topic counts for the platform only if the topic is that of the credentials.
@Suite struct APNsTopicTests {
    private func answer(_ headers: [String: String], _ status: Int, _ reason: String) async throws -> PushAnswer {
        let configuration = try APNsConfiguration.sample()
        let connector = APNsConnector(
            configuration: configuration, client: ScriptedPushClient([.apple(status, reason)]),
            tokens: TestTokenStore().tokens(configuration), now: { Timestamp(milliseconds: 1_790_000_000_000) })
        let request = PushRequest(
            address: .handle(String(repeating: "0a", count: 32)), body: Array(#"{"aps":{"alert":"a"}}"#.utf8),
            headers: headers)
        return await connector.push(request, deadline: .now + patience).answer
    }

    /// Anyone with the right to send, and a device by the headers of its template, could otherwise cost the hub its
    /// devices, or stop its platform.
    @Test(arguments: [
        (400, "DeviceTokenNotForTopic"), (400, "TopicDisallowed"), (400, "BadTopic"), (403, "Forbidden"),
    ])
    func `A topic that the send has chosen says nothing about devices and credentials`(
        status: Int, reason: String
    ) async throws {
        let topic = try APNsConfiguration.sample().topic
        for headers in [
            ["apns-topic": "org.example.other"], ["apns-push-type": "voip"], ["apns-push-type": "mdm"],
            ["apns-push-type": "voip", "apns-topic": topic], ["apns-push-type": "newtype", "apns-topic": topic],
        ] {
            #expect(try await answer(headers, status, reason) == .invalid, "\(headers)")
        }
        let wanted = reason == "DeviceTokenNotForTopic" ? PushAnswer.wrongAddress : .credentialRefused
        for headers in [[:], ["apns-topic": topic], ["apns-push-type": "background"]] {
            #expect(try await answer(headers, status, reason) == wanted, "\(headers)")
        }
    }
}
