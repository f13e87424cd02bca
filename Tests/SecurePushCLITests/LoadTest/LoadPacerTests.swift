import Testing

@testable import SecurePushCLI

@Suite struct LoadPacerTests {
    private func tickets(_ plan: LoadPlan) -> [LoadPacer.Ticket] {
        var pacer = LoadPacer(plan)
        var tickets: [LoadPacer.Ticket] = []
        while let ticket = pacer.take() { tickets.append(ticket) }
        #expect(tickets.last?.notifications.upperBound == plan.count)
        return tickets
    }

    @Test func `Flat out, each request may begin at once`() {
        let tickets = tickets(LoadPlan(count: 3))
        #expect(tickets.map(\.notifications) == [0..<1, 1..<2, 2..<3])
        #expect(tickets.allSatisfy { $0.start == nil })
    }

    @Test func `At a rate, each request has its time, whatever became of those before`() {
        let tickets = tickets(LoadPlan(count: 5, rate: 2))
        #expect(
            tickets.map(\.start) == [.zero, .milliseconds(500), .seconds(1), .milliseconds(1500), .seconds(2)])
    }

    @Test func `A rate that does not divide a second does not drift`() {
        var pacer = LoadPacer(LoadPlan(count: 10_000, rate: 3))
        var last: LoadPacer.Ticket?
        while let ticket = pacer.take() { last = ticket }
        #expect(last?.start == .seconds(3333))
    }

    @Test func `A batch begins when its first notification should`() {
        let tickets = tickets(LoadPlan(count: 25, rate: 100, batch: 10))
        #expect(tickets.map(\.notifications) == [0..<10, 10..<20, 20..<25])
        #expect(tickets.map(\.start) == [.zero, .milliseconds(100), .milliseconds(200)])
    }
}
