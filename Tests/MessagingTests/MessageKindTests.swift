import AMQP
import Domain
import Testing

@testable import Messaging

@Suite("The header kind")
struct MessageKindTests {
    private let topology = DispatchTopology(retryDelays: [.seconds(1)])
    private let id = NotificationID()

    @Test(arguments: [(FollowUp.Kind.withdrawal, "withdraw"), (.reminder, "remind")])
    func `A follow-up is the ID and its kind`(_ kind: FollowUp.Kind, _ text: String) throws {
        let message = DispatchMessage(id: id, traceparent: "00-a-b-01", kind: kind)
        let encoded = AMQPMessage(message, route: .dispatch, topology: topology)
        #expect(encoded.headers == ["traceparent": "00-a-b-01", "kind": .string(text)])
        #expect(encoded.body == Array(id.description.utf8))
        #expect(try DispatchMessage(encoded) == message)
    }

    @Test func `A push has none`() throws {
        let encoded = AMQPMessage(DispatchMessage(id: id), route: .dispatch, topology: topology)
        #expect(encoded.headers["kind"] == nil)
        #expect(try DispatchMessage(encoded).kind == nil)
    }

    @Test(arguments: [AMQPValue.string("push"), .string(""), .string("Withdraw"), .integer(1)])
    func `An unknown kind is unreadable`(_ kind: AMQPValue) {
        var message = AMQPMessage(exchange: "", routingKey: "", body: Array(id.description.utf8))
        message.headers["kind"] = kind
        #expect(throws: UnreadableMessage.kind) { try DispatchMessage(message) }
        #expect(UnreadableMessage.kind.description.hasPrefix("unreadable: "))
    }
}
