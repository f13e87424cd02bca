import ChaosChecker

/// A good history with hubs of one's own, for tests to spoil: two notifications for two users with two browsers and
/// an iPhone each, and two pushes that came again because their answer was lost or their hub was killed.
struct OwnHubHistory {
    static let browsers = (0..<2).flatMap { user in (1...2).map { "user\(user)/browser-\($0)" } }
    static let phones = (0..<2).map { "user\($0)/apple-3" }
    static let plan = FaultPlan(
        FaultPlan.Request(seed: 1, kills: [.hubProcess: 1, .postgres: 1], members: [.hubProcess: 2]))
    /// When the faults begin.
    static let killTime: Int64 = 100_000
    static let databaseTime: Int64 = 200_000

    var pushes: [HistoryEvent] = []
    var records: [HistoryEvent.Record] = []
    var service = HistoryEvent.PushService(
        time: 900_000, platform: "browser", counts: ["requests.all": 10, "accepted.all": 6, "faults.503": 2],
        alive: browsers, registered: browsers)
    var apns = HistoryEvent.PushService(
        time: 900_000, platform: "apple", counts: ["requests.all": 5, "accepted.all": 2, "faults.503": 1],
        alive: phones, registered: phones)
    var search: HistoryEvent? = .leak(
        .init(place: "service logs", found: 0, searchedBytes: 1000, subject: "handles or keys"))
    var after: [HistoryEvent] = []

    init() {
        for number in 0..<2 {
            for place in 1...2 { pushes.append(Self.push(number, place, at: 1000)) }
            records.append(
                .init(
                    time: 800_000, isFinal: true, id: SmallHistory.id(number), recipient: SmallHistory.user(number),
                    deliveries: ["browser", "apple"].map { SmallHistory.delivery($0, at: 300) }))
        }
        // The answer to the first was lost.
        pushes[0] = Self.push(0, 1, at: 1000, answer: "lost")
        pushes.append(Self.push(0, 1, at: 2000))
        // Its hub was killed before it had noted the first.
        pushes[3] = Self.push(1, 2, at: Self.killTime - 2000)
        pushes.append(Self.push(1, 2, at: Self.killTime + 40_000))
        for number in 0..<2 { pushes.append(Self.push(number, 3, at: 1000)) }
    }

    private static func platform(_ place: Int) -> String { place == 3 ? "apple" : "browser" }

    /// A push that a push service accepted.
    ///
    /// - Parameters:
    ///   - place: of the device: 1 and 2 are browsers, 3 is an iPhone.
    ///   - answer: `nil` if it arrived.
    static func push(_ number: Int, _ place: Int, at time: Int64, answer: String? = nil) -> HistoryEvent {
        .hub(
            .init(
                time: time, sequence: 1, platform: platform(place), id: SmallHistory.id(number), accepted: true,
                status: answer == nil ? 201 : nil, fault: answer,
                devices: ["\(SmallHistory.user(number))/\(platform(place))-\(place)"]))
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
            .run(.init(time: 0, count: 2, platforms: ["browser", "apple"], hub: "own", plan: Self.plan))
        ]
        for number in 0..<2 {
            let (id, user) = (SmallHistory.id(number), SmallHistory.user(number))
            events += [
                .send(.init(time: 10, phase: .invoke, number: number, recipient: user)),
                .send(.init(time: 20, phase: .ok, number: number, recipient: user, id: id, status: 201)),
            ]
            for place in 1...3 {
                let device = "\(user)/\(Self.platform(place))-\(place)"
                events += [
                    .device(.init(name: device, user: user, platform: Self.platform(place))),
                    SmallHistory.fetch(number, by: user, on: device),
                    .show(.init(time: 3000, device: device, id: id)),
                ]
            }
        }
        events += Self.fault("kill hub-process", Self.killTime) + Self.fault("kill postgres", Self.databaseTime)
        events += pushes + records.map(HistoryEvent.record) + [.pushService(service), .pushService(apns)]
        events += [.leak(.init(place: "pushes", found: 0, searchedBytes: 1000))] + [search].compactMap(\.self) + after
        return events + [.end(.init(time: 900_000))]
    }

    var verdict: Verdict { Checker.check(events) }
}
