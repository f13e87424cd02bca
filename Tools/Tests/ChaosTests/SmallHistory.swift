import ChaosChecker

/// A history in which nothing goes wrong, for tests to spoil: two notifications for two users with two devices each.
struct SmallHistory {
    static let platforms = ["apple", "windows"]
    static let plan = FaultPlan(FaultPlan.Request(seed: 1, kills: [.dispatcher: 1]))

    /// The events by part, so that a test can change one and leave the others.
    var sends: [HistoryEvent] = []
    var hub: [HistoryEvent] = []
    var devices: [HistoryEvent] = []
    var reads: [HistoryEvent] = []
    var nemesis: [HistoryEvent]
    var looks: [HistoryEvent] = []
    var records: [HistoryEvent.Record] = []
    var after: [HistoryEvent]
    var allowance = 0
    var withdraw: String?

    static func id(_ number: Int) -> String { "id-\(number)" }
    static func user(_ number: Int) -> String { "user\(number)" }

    init() {
        let fault = Self.plan.faults[0].description
        nemesis = [
            .nemesis(.init(time: 100, phase: .begin, fault: fault)),
            .nemesis(.init(time: 200, phase: .end, fault: fault)),
        ]
        after = [
            .leak(.init(place: "hub records", found: 0, searchedBytes: 1000)),
            .end(.init(time: 900)),
        ]
        for number in 0..<2 {
            let (id, user) = (Self.id(number), Self.user(number))
            sends.append(.send(.init(time: 10, phase: .invoke, number: number, recipient: user)))
            sends.append(.send(.init(time: 20, phase: .ok, number: number, recipient: user, id: id, status: 201)))
            for platform in Self.platforms {
                let device = "\(user)/\(platform)"
                devices.append(.device(.init(name: device, user: user, platform: platform)))
                hub.append(Self.hubSend(number, platform))
                reads.append(Self.fetch(number, by: user, on: device))
                reads.append(.show(.init(time: 50, device: device, id: id)))
            }
            records.append(
                .init(
                    time: 800, isFinal: true, id: id, recipient: user,
                    deliveries: Self.platforms.map { Self.delivery($0) }))
        }
    }

    static func hubSend(_ number: Int, _ platform: String, accepted: Bool = true) -> HistoryEvent {
        .hub(
            .init(
                time: 30, sequence: 1, platform: platform, id: id(number), accepted: accepted,
                status: accepted ? 201 : 503, devices: accepted ? ["\(user(number))/\(platform)"] : []))
    }

    static func fetch(_ number: Int, by user: String, on device: String, read: Int? = nil) -> HistoryEvent {
        .fetch(
            .init(
                time: 40, device: device, user: user, id: id(number), reason: .push, status: 200,
                number: read ?? number))
    }

    static func delivery(
        _ platform: String, _ state: String = "sent", attempts: Int = 1, unanswered: Int = 0, at time: Int64 = 300
    ) -> HistoryEvent.Record.Delivery {
        .init(platform: platform, state: state, attempts: attempts, unanswered: unanswered, updatedAt: time)
    }

    var events: [HistoryEvent] {
        [
            .run(
                .init(
                    time: 0, count: 2, platforms: Self.platforms, allowance: allowance, withdraw: withdraw,
                    plan: Self.plan))
        ] + devices
            + sends + nemesis
            + hub + reads + looks + records.map(HistoryEvent.record) + after
    }

    var verdict: Verdict { Checker.check(events) }
}
