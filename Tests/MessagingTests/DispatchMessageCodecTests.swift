import AMQP
import SecurePushCore
import Testing

@testable import Messaging

@Suite struct DispatchMessageCodecTests {
    private let topology = DispatchTopology(retryDelays: [.seconds(1), .seconds(5)])
    private let id = NotificationID()

    @Test func aFirstMessageIsTheIDAndNothingElse() {
        let message = AMQPMessage(DispatchMessage(id: id), route: .dispatch, topology: topology)
        let expected = AMQPMessage(
            exchange: "securepush.notifications", routingKey: "dispatch", body: Array(id.description.utf8),
            contentType: "text/plain", messageID: id.description, isPersistent: true)
        #expect(message == expected)
        #expect(message.body.count == 36)
    }

    @Test func aRetryCarriesWhatIsLeft() {
        let retry = DispatchMessage(id: id, platforms: [.apple, .fcmv1], attempt: 2, traceparent: "00-a-b-01")
        let message = AMQPMessage(retry, route: .retry(delay: 1), topology: topology)
        #expect(message.exchange.isEmpty)
        #expect(message.routingKey == "securepush.retry.5")
        #expect(message.headers == ["traceparent": "00-a-b-01", "platforms": "apple,fcmv1", "attempt": 2])
        #expect(DispatchMessage(message) == retry)
    }

    @Test(arguments: [(-1, "1"), (0, "1"), (1, "5"), (9, "5")])
    func aDelayPastTheirNumberRepeatsTheLast(_ index: Int, _ seconds: String) {
        let message = AMQPMessage(DispatchMessage(id: id), route: .retry(delay: index), topology: topology)
        #expect(message.routingKey == "securepush.retry.\(seconds)")
    }

    @Test func aDeadMessageSaysWhy() {
        let message = AMQPMessage(DispatchMessage(id: id), route: .dead(reason: "gone"), topology: topology)
        #expect(message.exchange == "securepush.dead")
        #expect(message.headers["reason"] == "gone")
    }

    @Test func messagesOfOthersNeedNoProperties() {
        let message = AMQPMessage(exchange: "", routingKey: "", body: Array(id.description.utf8))
        #expect(DispatchMessage(message) == DispatchMessage(id: id))
    }

    @Test(arguments: ["", "x", " 0197a6c0-0000-7000-8000-000000000000", "0197a6c0-0000-7000-8000-000000000000\n"])
    func aBodyThatIsNotExactlyAnIDIsNone(_ body: String) {
        #expect(DispatchMessage(AMQPMessage(exchange: "", routingKey: "", body: Array(body.utf8))) == nil)
    }

    @Test(arguments: [AMQPValue.integer(0), .integer(-3), .string("x"), .void])
    func anUnusableAttemptIsNone(_ value: AMQPValue) {
        let message = AMQPMessage(
            exchange: "", routingKey: "", body: Array(id.description.utf8), headers: ["attempt": value])
        #expect(DispatchMessage(message) == DispatchMessage(id: id))
    }

    @Test(arguments: [
        (AMQPError.Code.blocked, MessagingError.Code.blocked), (.nacked, .nacked), (.returned, .returned),
        (.timeout, .timeout), (.full, .full), (.connectionLost, .connectionLost), (.notConnected, .notConnected),
    ])
    func errorsKeepTheirMeaning(_ code: AMQPError.Code, _ expected: MessagingError.Code) {
        #expect(MessagingError(AMQPError(code, "why")).code == expected)
    }
}
