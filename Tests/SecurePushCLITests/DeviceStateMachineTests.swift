import SecurePushCore
import Testing

@testable import SecurePushCLI

@Suite struct DeviceStateMachineTests {
    private typealias Machine = DeviceStateMachine
    private let id = NotificationID(high: 1, low: 2)
    private var push: NativePush? {
        NativePush(platform: .windows, body: id.description)
    }

    private func fetching(_ machine: inout Machine) {
        #expect(machine.receive(push) == .fetch(id))
    }

    @Test func `A payload is shown once, however often its push comes`() {
        var machine = Machine(hasCredentials: true)
        fetching(&machine)
        #expect(machine.finish(id, .payload("secret")) == .show(.init(id: id, text: "secret", kind: .payload)))
        #expect(machine.receive(push) == .ignore(id, reason: "already fetched"))
        #expect(machine.shown == 1)
    }

    @Test func `A push during the fetch is not fetched again`() {
        var machine = Machine(hasCredentials: true)
        fetching(&machine)
        #expect(machine.receive(push) == .ignore(id, reason: "already fetched"))
    }

    @Test(arguments: [401, 403])
    func `Refused credentials lead to the prompt`(status: Int) {
        var machine = Machine(hasCredentials: true)
        fetching(&machine)
        let shown = Machine.Shown(
            id: id, text: "You have a new message. Log in to read it.", kind: .prompt,
            reason: "the server answered \(status)")
        #expect(machine.finish(id, .refused(status: status)) == .show(shown))
        #expect(machine.shown == 1)
    }

    @Test func `A failing network leads to the prompt, and a later push to the payload`() {
        var machine = Machine(hasCredentials: true)
        fetching(&machine)
        #expect(
            machine.finish(id, .failed("no answer"))
                == .show(.init(id: id, text: Machine.prompt, kind: .prompt, reason: "no answer")))
        fetching(&machine)
        #expect(machine.finish(id, .payload("secret")) == .show(.init(id: id, text: "secret", kind: .payload)))
        #expect(machine.shown == 2)
    }

    @Test func `The prompt is shown once`() {
        var machine = Machine(hasCredentials: true)
        fetching(&machine)
        _ = machine.finish(id, .failed("no answer"))
        fetching(&machine)
        #expect(machine.finish(id, .refused(status: 401)) == .ignore(id, reason: "the prompt was shown already"))
        #expect(machine.shown == 1)
    }

    @Test func `Nobody logged in: the prompt, without a request, once`() {
        var machine = Machine(hasCredentials: false)
        #expect(
            machine.receive(push)
                == .show(.init(id: id, text: Machine.prompt, kind: .prompt, reason: "nobody is logged in")))
        #expect(machine.receive(push) == .ignore(id, reason: "the prompt was shown already"))
    }

    @Test(arguments: [404, 410])
    func `What is gone is not shown and not asked for again`(status: Int) {
        var machine = Machine(hasCredentials: true)
        fetching(&machine)
        #expect(
            machine.finish(id, .gone(status: status))
                == .ignore(id, reason: "the server has no such notification for this user (\(status))"))
        #expect(machine.receive(push) == .ignore(id, reason: "already fetched"))
        #expect(machine.shown == 0)
    }

    @Test func `A push without an ID, and an answer that nobody asked for`() {
        var machine = Machine(hasCredentials: true)
        #expect(machine.receive(nil) == .ignore(nil, reason: "the push has no ID"))
        #expect(machine.finish(id, .payload("x")) == .ignore(id, reason: "not requested"))
        #expect(machine.shown == 0)
    }

    @Test(arguments: [
        (200, #"{"Id":"1","Payload":"text","Read":false}"#, Machine.FetchResult.payload("text")),
        (200, #"{ "Payload" : {"a":1.50} }"#, .payload(#"{"a":1.50}"#)),
        (200, #"{"Payload":null}"#, .payload("null")),
        (200, "{}", .failed("the response has no payload")),
        (200, "<html>", .failed("the response has no payload")),
        (401, "", .refused(status: 401)), (403, "", .refused(status: 403)), (404, "", .gone(status: 404)),
        (410, "", .gone(status: 410)), (500, "", .failed("the server answered 500")),
    ])
    func `Answers`(status: Int, body: String, result: DeviceStateMachine.FetchResult) {
        #expect(DeviceStateMachine.FetchResult(APIResponse(status: status, body: body)) == result)
    }
}
