import ChaosChecker

/// A good history with hubs of one's own, for tests to spoil: two notifications for two users with two browsers each,
/// and two pushes that came again because their answer was lost or their hub was killed.
struct OwnHubHistory {
    static let deviceNames = (0..<2).flatMap { user in (1...2).map { "user\(user)/browser-\($0)" } }
    static let plan = FaultPlan(
        FaultPlan.Request(seed: 1, kills: [.hubProcess: 1, .postgres: 1], members: [.hubProcess: 2]))
    /// When the faults begin.
    static let killTime: Int64 = 100_000
    static let databaseTime: Int64 = 200_000

    var pushes: [HistoryEvent] = []
    var records: [HistoryEvent.Record] = []
    var service = HistoryEvent.PushService(
        time: 900_000, counts: ["requests.all": 10, "accepted.all": 6, "faults.503": 2], alive: deviceNames,
        registered: deviceNames)
    var search: HistoryEvent? = .leak(
        .init(place: "service logs", found: 0, searchedBytes: 1000, subject: "endpoints or keys"))
    var after: [HistoryEvent] = []

    init() {
        for number in 0..<2 {
            for place in 1...2 { pushes.append(Self.push(number, place, at: 1000)) }
            records.append(
                .init(
                    time: 800_000, isFinal: true, id: SmallHistory.id(number), recipient: SmallHistory.user(number),
                    deliveries: [SmallHistory.delivery("browser", at: 300)]))
        }
        // The answer to the first was lost.
        pushes[0] = Self.push(0, 1, at: 1000, answer: "lost")
        pushes.append(Self.push(0, 1, at: 2000))
        // Its hub was killed before it had noted the first.
        pushes[3] = Self.push(1, 2, at: Self.killTime - 2000)
        pushes.append(Self.push(1, 2, at: Self.killTime + 40_000))
    }

    /// A push that the push service accepted.
    ///
    /// - Parameter answer: `nil` if it arrived.
    static func push(_ number: Int, _ place: Int, at time: Int64, answer: String? = nil) -> HistoryEvent {
        .hub(
            .init(
                time: time, sequence: 1, platform: "browser", id: SmallHistory.id(number), accepted: true,
                status: answer == nil ? 201 : nil, fault: answer,
                devices: ["\(SmallHistory.user(number))/browser-\(place)"]))
    }

    private static func fault(_ action: String, _ begin: Int64) -> [HistoryEvent] {
        plan.faults.filter { $0.description.hasPrefix(action) }.flatMap { fault in
            [
                .nemesis(.init(time: begin, phase: .begin, fault: fault.description)),
                .nemesis(.init(time: begin + 1500, phase: .end, fault: fault.description)),
            ]
        }
    }

    var events: [HistoryEvent] {
        var events: [HistoryEvent] = [
            .run(.init(time: 0, count: 2, platforms: ["browser"], hub: "own", plan: Self.plan))
        ]
        for number in 0..<2 {
            let (id, user) = (SmallHistory.id(number), SmallHistory.user(number))
            events += [
                .send(.init(time: 10, phase: .invoke, number: number, recipient: user)),
                .send(.init(time: 20, phase: .ok, number: number, recipient: user, id: id, status: 201)),
            ]
            for place in 1...2 {
                let device = "\(user)/browser-\(place)"
                events += [
                    .device(.init(name: device, user: user, platform: "browser")),
                    SmallHistory.fetch(number, by: user, on: device),
                    .show(.init(time: 3000, device: device, id: id)),
                ]
            }
        }
        events += Self.fault("kill hub-process", Self.killTime) + Self.fault("kill postgres", Self.databaseTime)
        events += pushes + records.map(HistoryEvent.record) + [.pushService(service)]
        events += [.leak(.init(place: "pushes", found: 0, searchedBytes: 1000))] + [search].compactMap(\.self) + after
        return events + [.end(.init(time: 900_000))]
    }

    var verdict: Verdict { Checker.check(events) }
}
