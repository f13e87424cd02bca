import Domain
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct FaultTests {
    @Test(arguments: [401, 403, 404, 410, 412, 413, 429, 500, 503])
    func `Statuses are answered`(_ status: Int) async throws {
        try await withEmulator { emulator in
            let added = try await emulator.addFault(#"{"Status":\#(status),"RetryAfter":7,"Count":1}"#)
            #expect(added.status == .created)
            let response = try await emulator.send()
            #expect(response.status.code == status)
            #expect(response.headers[.retryAfter] == "7")
            if status != 403 { #expect(response.text.hasPrefix("<Error><Code>\(status)</Code><Detail>")) }
            #expect(try await emulator.send().status == .created)
            let records = try await emulator.records()
            #expect(records.map { $0["Outcome"] as? String } == ["Faulted", "NoTargetFound"])
            #expect((records.first?["Fault"] as? String)?.hasPrefix("\(status)") == true)
        }
    }

    @Test func `A fault is for its platform and operation`() async throws {
        try await withEmulator { emulator in
            try await emulator.addFault(#"{"platform":"Windows","STATUS":503,"operation":"send"}"#)
            #expect(try await emulator.send().status == .created)
            #expect(try await emulator.send(format: "windows").status.code == 503)
            let registered = try await emulator.call(
                .post, "/hub/registrations", headers: TestEntry.headers,
                body: TestEntry.make("WindowsRegistrationDescription", "<ChannelUri>w</ChannelUri>"))
            #expect(registered.status == .ok)
            _ = try await emulator.call(.delete, "/emulator/faults", authorization: nil)
            #expect(try await emulator.send(format: "windows").status == .created)
        }
    }

    @Test func `A registration ID can be given up`() async throws {
        try await withEmulator { emulator in
            try await emulator.addFault(#"{"Status":410,"Operation":"register","Count":1}"#)
            func put() async throws -> HTTPResponse.Status {
                try await emulator.call(
                    .put, "/hub/registrations/1", headers: TestEntry.headers, body: TestEntry.apple()
                ).status
            }
            #expect(try await put() == .gone)
            #expect(try await put() == .ok)
        }
    }

    @Test func `A delay alone still sends`() async throws {
        try await withEmulator { emulator in
            try await emulator.addFault(#"{"LatencyMs":150}"#)
            let start = ContinuousClock.now
            #expect(try await emulator.send().status == .created)
            #expect(ContinuousClock.now - start >= .milliseconds(150))
        }
    }

    @Test func `A reset cuts the connection`() async throws {
        try await withEmulator(.live) { emulator in
            try await emulator.addFault(#"{"Reset":true,"Count":1}"#)
            await #expect(throws: (any Error).self) { _ = try await emulator.send() }
        }
    }

    @Test func `The rate is drawn and the count runs out`() {
        let table = FaultTable()
        var fault = Fault()
        fault.answer = .status(500)
        fault.rate = 0.25
        fault.count = 2
        table.add(fault)
        let draws = [0.3, 0.2, 0.25, 0.1, 0.0]
        let hits = draws.map { draw in table.effect(on: .send, platform: .apple, draw: { draw }).fault != nil }
        #expect(hits == [false, true, false, true, false])
        #expect(table.all.isEmpty)
    }

    @Test func `Delays add up before the first status`() {
        let table = FaultTable()
        for (latency, status) in [(10, nil), (20, 503), (40, 500)] as [(Int, Int?)] {
            var fault = Fault()
            fault.latencyMilliseconds = latency
            fault.answer = status.map { .status($0) } ?? .usual
            table.add(fault)
        }
        let effect = table.effect(on: .register, platform: nil)
        #expect(effect.latencyMilliseconds == 30)
        #expect(effect.fault?.answer == .status(503))
    }

    @Test(
        arguments: [
            ("", 400), ("[]", 422), (#"{"Status":{}}"#, 422), ("{}", 422), (#"{"Status":200}"#, 422),
            (#"{"Status":"503"}"#, 422), (#"{"Status":503,"Rate":2}"#, 422), (#"{"Status":503,"Count":0}"#, 422),
            (#"{"Status":503,"RetryAfter":-1}"#, 422), (#"{"Status":503,"RetryAfter":1.5}"#, 422),
            (#"{"Status":503,"Platform":"palm"}"#, 422), (#"{"Status":503,"Operation":"dance"}"#, 422),
            (#"{"Status":503,"Novel":1}"#, 422), (#"{"Status":503,"status":500}"#, 422), (#"{"Reset":1}"#, 422),
            (#"{"Status":503,"Reset":true}"#, 422), (#"{"Accept":true}"#, 422), (#"{"For":"10s"}"#, 422),
            (#"{"Status":503,"For":"soon"}"#, 422), (#"{"Status":503,"For":10}"#, 422),
            (#"{"Tag":"a b","Reset":true}"#, 422), (#"{"Outcome":"Success"}"#, 422), (#"{"Outcome":"Lost"}"#, 422),
            (#"{"Tier":"gold"}"#, 422),
            (#"{"Tier":"free","Reset":true}"#, 422), (#"{"Swallow":true,"Outcome":"Dropped"}"#, 422),
        ] as [(String, Int)])
    func `Bad faults are problems`(_ json: String, _ status: Int) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.addFault(json)
            #expect(response.status.code == status, "\(response.text)")
            #expect(response.headers[.contentType] == "application/problem+json")
            #expect(try await emulator.call(.get, "/emulator/faults", authorization: nil).text == "[]")
        }
    }
}
