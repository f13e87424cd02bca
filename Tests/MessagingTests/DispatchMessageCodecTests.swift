import AMQP
import Domain
import Foundations
import Testing

@testable import Messaging

@Suite struct DispatchMessageCodecTests {
    private let topology = DispatchTopology(retryDelays: [.seconds(1), .seconds(5)])
    private let id = NotificationID()

    @Test func `A first message is the ID and its trace`() {
        let first = DispatchMessage(id: id, traceparent: "00-a-b-01")
        let message = AMQPMessage(first, route: .dispatch, topology: topology)
        let expected = AMQPMessage(
            exchange: "securepush.notifications", routingKey: "dispatch", body: Array(id.description.utf8),
            contentType: "text/plain", messageID: id.description, isPersistent: true,
            headers: ["traceparent": "00-a-b-01"])
        #expect(message == expected)
        #expect(message.body.count == 36)
    }

    @Test func `Every message has a traceparent`() {
        for route in [DispatchRoute.dispatch, .retry(delay: 0), .dead(reason: "gone")] {
            let message = AMQPMessage(DispatchMessage(id: id), route: route, topology: topology)
            let traceparent = message.headers["traceparent"]?.string
            #expect(traceparent.flatMap { TraceContext(traceparent: $0) } != nil)
        }
    }

    @Test func `A retry carries what is left`() {
        let retry = DispatchMessage(id: id, platforms: [.apple, .fcmv1], attempt: 2, traceparent: "00-a-b-01")
        let message = AMQPMessage(retry, route: .retry(delay: 1), topology: topology)
        #expect(message.exchange.isEmpty)
        #expect(message.routingKey == "securepush.retry.5")
        #expect(message.headers == ["traceparent": "00-a-b-01", "platforms": "apple,fcmv1", "attempt": 2])
        #expect(read(message) == .success(retry))
    }

    @Test func `Only a first publish has the mark`() {
        let first = DispatchMessage(id: id, traceparent: "00-a-b-01", isFirst: true)
        let message = AMQPMessage(first, route: .dispatch, topology: topology)
        #expect(message.headers == ["traceparent": "00-a-b-01", "first": true])
        #expect(read(message) == .success(first))
        for route in [DispatchRoute.retry(delay: 0), .dead(reason: "gone")] {
            #expect(AMQPMessage(first, route: route, topology: topology).headers["first"] == nil)
        }
    }

    @Test func `A message that was dead-lettered is not the first`() throws {
        let first = AMQPMessage(DispatchMessage(id: id, isFirst: true), route: .dispatch, topology: topology)
        for (name, value) in [("x-death", AMQPValue.array([])), ("reason", "gone")] {
            var moved = first
            moved.headers[name] = value
            #expect(try read(moved).get().isFirst == false)
        }
        var other = first
        other.headers["first"] = "yes"
        #expect(try read(other).get().isFirst == false)
    }

    @Test(arguments: [(-1, "1"), (0, "1"), (1, "5"), (9, "5")])
    func `A delay past their number repeats the last`(_ index: Int, _ seconds: String) {
        let message = AMQPMessage(DispatchMessage(id: id), route: .retry(delay: index), topology: topology)
        #expect(message.routingKey == "securepush.retry.\(seconds)")
    }

    @Test func `A dead message says why`() {
        let message = AMQPMessage(DispatchMessage(id: id), route: .dead(reason: "gone"), topology: topology)
        #expect(message.exchange == "securepush.dead")
        #expect(message.headers["reason"] == "gone")
    }

    @Test func `Messages of others need no properties`() {
        let message = AMQPMessage(exchange: "", routingKey: "", body: Array(id.description.utf8))
        #expect(read(message) == .success(DispatchMessage(id: id)))
    }

    @Test(arguments: ["", "x", " 0197a6c0-0000-7000-8000-000000000000", "0197a6c0-0000-7000-8000-000000000000\n"])
    func `A body that is not exactly an ID is none`(_ body: String) {
        let message = AMQPMessage(exchange: "", routingKey: "", body: Array(body.utf8))
        #expect(read(message) == .failure(.notAnID))
    }

    @Test(arguments: [
        AMQPValue.integer(0), .integer(-3), .integer(1001), .integer(.max), .integer(.min), .string("x"), .void,
        .string("9223372036854775808"), .double(1), .table(["attempt": 1]),
    ])
    func `An attempt out of range cannot be read`(_ value: AMQPValue) {
        #expect(read(attempt: value) == .failure(.attempt))
    }

    @Test(arguments: [(AMQPValue.integer(1), 1), (.integer(1000), 1000), (.string("7"), 7)])
    func `An attempt in range is read`(_ value: AMQPValue, _ attempt: Int) {
        #expect(read(attempt: value) == .success(DispatchMessage(id: id, attempt: attempt)))
    }

    @Test(arguments: [(nil, 1), (1, 2), (999, 1000), (1000, 1000), (.max, 1000), (.min, 1)] as [(Int?, Int)])
    func `The next attempt stays in range`(_ attempt: Int?, _ next: Int) {
        #expect(DispatchMessage(id: id, attempt: attempt).nextAttempt == next)
    }

    @Test(arguments: [(1025, 0, UnreadableMessage.body(bytes: 1025)), (36, 8193, .headers(bytes: 8193))])
    func `What is too long cannot be read`(_ body: UInt64, _ headers: Int, _ reason: UnreadableMessage) {
        let message = AMQPMessage(exchange: "", routingKey: "", body: Array(id.description.utf8))
        let delivery = AMQPDelivery(
            tag: 1, epoch: 1, isRedelivered: false, message: message, bodyBytes: body, headerBytes: headers)
        let error = #expect(throws: UnreadableMessage.self) { try DispatchMessage(delivery) }
        #expect(error == reason)
    }

    private func read(attempt: AMQPValue) -> Result<DispatchMessage, UnreadableMessage> {
        read(
            AMQPMessage(
                exchange: "", routingKey: "", body: Array(id.description.utf8), headers: ["attempt": attempt]))
    }

    private func read(_ message: AMQPMessage) -> Result<DispatchMessage, UnreadableMessage> {
        Result { () throws(UnreadableMessage) in try DispatchMessage(message) }
    }

    @Test(arguments: [
        (AMQPError.Code.blocked, MessagingError.Code.blocked), (.nacked, .nacked), (.returned, .returned),
        (.timeout, .timeout), (.full, .full), (.connectionLost, .connectionLost), (.notConnected, .notConnected),
    ])
    func `Errors keep their meaning`(_ code: AMQPError.Code, _ expected: MessagingError.Code) {
        #expect(MessagingError(AMQPError(code, "why")).code == expected)
    }
}
