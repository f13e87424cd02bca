import Domain
import Foundations
import Logging
import Metrics
import ServiceRuntime

/// `SILENT_PUSH_MIN_INTERVAL`: at most one silent push per recipient and platform within an interval, across all
/// dispatchers.
///
/// Apple and Google throttle apps that are woken often. The device fetches its inbox each time, so one push can serve
/// many notifications. The store keeps the last push of each recipient and platform (``DispatchStore``). A notification
/// that has to wait stays owed: its row falls due at the time of the next push, and the outbox publishes it again. It
/// is done without a push of its own if another notification's push covers it.
///
/// Decision: docs/decisions/0003-one-lane-per-platform-and-hub.md
struct SilentBudget: Sendable {
    typealias Store = DispatchStore & OperatorStore

    let store: any Store
    let interval: Duration
    let logger: Logger
    let coalesced = Metric.silentCoalesced.counter()
    private let problem = LastingProblemLog(
        "The silent pushes of recipients cannot be read or stored; silent notifications wait",
        end: "The silent pushes of recipients are read and stored again")

    /// How long a notification waits after a failure that says nothing about the next push.
    static let failureWait = Duration.seconds(5)
    /// How long a notification waits for a newer one that another dispatcher is about to send.
    private static let peerWait = Duration.seconds(1)
    /// How long a push may be in flight: the hub's deadline of 10 s, and some seconds to store the outcome.
    private static let flightTime = Duration.seconds(15)

    init(store: any Store, interval: Duration, logger: Logger) {
        self.store = store
        self.interval = interval
        self.logger = logger
    }

    /// Decides about every platform of attempts that one dispatcher has claimed together.
    ///
    /// - Returns: the roles of each attempt's platforms.
    func roles(of attempts: [DispatchAttempt], now: Timestamp) async -> [[SilentRole]] {
        var roles = attempts.map { attempt in attempt.platforms.map { _ in SilentRole.free } }
        let groups = groups(attempts)
        guard !groups.isEmpty else { return roles }
        let verdicts = await verdicts(groups, now: now)
        for (group, verdict) in zip(groups, verdicts) {
            switch verdict {
            case .granted(let grant):
                let others = group.members.filter { $0.attempt != group.leader.attempt }
                for member in others { roles[member.attempt][member.index] = .follows }
                roles[group.leader.attempt][group.leader.index] = .leads(
                    grant,
                    followers: others.map { SilentFollower(attempt: attempts[$0.attempt], index: $0.index) })
            case .refused(let state, let accepted):
                for member in group.members {
                    roles[member.attempt][member.index] = .answered(
                        answer(to: member.request, state, accepted: accepted, now: now))
                }
            case .unknown:
                for member in group.members {
                    roles[member.attempt][member.index] = .answered(
                        .waits(SilentWait(until: now + Self.failureWait, sequence: member.request.sequence)))
                }
            }
        }
        return roles
    }

    /// Gives back the pushes that were not accepted. If that fails, the next push waits for the interval.
    func release(_ releases: [SilentPushRelease]) async {
        guard !releases.isEmpty else { return }
        do {
            try await store.release(releases, interval: interval, now: .now)
            problem.succeeded(to: logger)
        } catch {
            problem.failed("\(error)", to: logger)
        }
    }
}

extension SilentBudget {
    private struct Member {
        /// The index of the attempt.
        var attempt: Int
        /// The index of the platform in the attempt.
        var index: Int
        var request: SilentPushRequest
    }

    /// The silent notifications of one recipient on one platform.
    private struct Group {
        var members: [Member]

        /// The newest notification, which the push names.
        var leader: Member { members.max { $0.request.id < $1.request.id } ?? members[0] }
    }

    private enum Verdict {
        case granted(SilentPushGrant)
        /// - Parameter accepted: whether the hub has accepted the last push.
        case refused(SilentPushState, accepted: Bool)
        case unknown
    }

    private func groups(_ attempts: [DispatchAttempt]) -> [Group] {
        var positions: [SilentPushKey: Int] = [:]
        var groups: [Group] = []
        for (position, attempt) in attempts.enumerated() where attempt.plan.isSilentPush {
            for (index, platform) in attempt.platforms.enumerated() where Platform.known.contains(platform) {
                let member = Member(attempt: position, index: index, request: attempt.plan.silentRequest(for: platform))
                if let group = positions[member.request.key] {
                    groups[group].members.append(member)
                } else {
                    positions[member.request.key] = groups.count
                    groups.append(Group(members: [member]))
                }
            }
        }
        return groups
    }

    /// Asks the store, once for each group. A recipient whose row cannot be read or changed does not delay the others.
    private func verdicts(_ groups: [Group], now: Timestamp) async -> [Verdict] {
        let write = GroupWrite<SilentPushRequest, [SilentPushKey: SilentPushAdmission]> { [store, interval] requests in
            let admissions = try await store.admit(requests, interval: interval, now: now)
            return Dictionary(zip(requests.map(\.key), admissions)) { $1 }
        } probe: { [store, interval] in
            // A grant that does not exist.
            guard let nobody = UserName("nobody") else { return }
            let grant = SilentPushGrant(key: SilentPushKey(recipient: nobody, platform: .apple), sequence: -1)
            try await store.release([SilentPushRelease(grant, isOwed: false)], interval: interval, now: now)
        }
        let result = await write(groups.map(\.leader.request))
        var admissions: [SilentPushKey: SilentPushAdmission] = [:]
        for admitted in result.values { admissions.merge(admitted) { $1 } }
        do {
            let accepted = try await accepted(groups, admissions)
            if let failure = result.failures.first {
                problem.failed("\(failure)", to: logger, metadata: ["count": "\(groups.count - admissions.count)"])
            } else {
                problem.succeeded(to: logger)
            }
            return groups.map { group in
                let key = group.leader.request.key
                return switch admissions[key] {
                case .granted(let grant)?: .granted(grant)
                case .refused(let state)?: .refused(state, accepted: accepted.contains(key))
                case nil: .unknown
                }
            }
        } catch {
            // A push that may have been granted counts: the notifications wait for the one after it.
            problem.failed("\(error)", to: logger, metadata: ["count": "\(groups.count)"])
            return groups.map { _ in .unknown }
        }
    }

    /// The recipients and platforms whose last push covers a notification of the group, and was accepted.
    private func accepted(
        _ groups: [Group], _ admissions: [SilentPushKey: SilentPushAdmission]
    ) async throws -> Set<SilentPushKey> {
        var pushes: [(key: SilentPushKey, id: NotificationID)] = []
        for group in groups {
            guard case .refused(let state)? = admissions[group.leader.request.key], let id = state.pushedID,
                group.members.contains(where: { state.covers($0.request.id, waitingSince: $0.request.sequence) })
            else { continue }
            pushes.append((group.leader.request.key, id))
        }
        guard !pushes.isEmpty else { return [] }
        let records = try await store.records(Array(Set(pushes.map(\.id))))
        let accepted = pushes.filter { push in
            let deliveries = records[push.id]?.deliveries ?? []
            return deliveries.contains { $0.platform == push.key.platform && $0.state == .sent }
        }
        return Set(accepted.map(\.key))
    }

    private func answer(
        to request: SilentPushRequest, _ state: SilentPushState, accepted: Bool, now: Timestamp
    ) -> LaneAnswer {
        let next = state.next(interval: interval, now: now)
        let soon = now + Self.peerWait
        guard state.covers(request.id, waitingSince: request.sequence), let pushedID = state.pushedID else {
            // If the next push may be sent now, a newer notification is about to be.
            return .waits(SilentWait(until: max(next, soon), sequence: state.sequence))
        }
        if accepted { return .coalesced(into: pushedID) }
        // The push is in flight, or its outcome is not known and it is sent again later.
        return state.pushedAt + Self.flightTime > now
            ? .waits(SilentWait(until: soon, sequence: request.sequence))
            : .waits(SilentWait(until: max(next, soon), sequence: state.sequence))
    }
}
