import ServiceRuntime

/// Something that an operator should look at, for the first line, the title and the icon of the page.
struct Trouble: Encodable, Sendable, Equatable {
    enum Level: String, Encodable, Sendable, Comparable {
        case good, warn, bad

        static func < (one: Level, other: Level) -> Bool { one.rank < other.rank }

        private var rank: Int { self == .bad ? 2 : self == .warn ? 1 : 0 }
    }

    enum Kind: String, Encodable, Sendable {
        case source, lane, queue, process, outbox, failures
        case deadLetters = "dead-letters"
    }

    var level: Level
    var kind: Kind
    /// A few words for a title.
    var short: String
    /// A sentence.
    var text: String
    var since: String?
    /// The part of the page that shows it.
    var section: String
}

extension Overview {
    /// From this age on an entry of the outbox that is due is late: the relay publishes it within a second.
    private static let lateSeconds: Int64 = 30

    /// The overview with the list of its problems.
    func judged() -> Overview {
        var judged = self
        // The sort is stable: within one level, problems that stop more of the system come first.
        let all = sourceTroubles + laneTroubles + pushServiceTroubles + queueTroubles + processTroubles + workTroubles
        judged.troubles =
            all.enumerated().sorted { ($1.element.level, $0.offset) < ($0.element.level, $1.offset) }.map(\.element)
        judged.state = judged.troubles.first?.level ?? .good
        return judged
    }

    private var sourceTroubles: [Trouble] {
        let shown = [("database", "funnel"), ("broker", "queues")]
        return shown.compactMap { name, section in
            guard let source = sources.first(where: { $0.name == name }), source.state == "down" else { return nil }
            return Trouble(
                level: .bad, kind: .source, short: "The \(name) cannot be reached",
                text: "The \(name) cannot be reached: \(source.detail ?? "it does not answer")", since: source.since,
                section: section)
        }
    }

    private var laneTroubles: [Trouble] {
        let refused = lanes.filter { $0.state == "refused" }
        let paused = lanes.filter { $0.state == "paused" }
        let platforms = { (lanes: [Lane]) in Set(lanes.map(\.platform)).sorted().joined(separator: ", ") }
        var troubles: [Trouble] = []
        if !refused.isEmpty {
            let count = refused.count.counted("lane")
            troubles.append(
                Trouble(
                    level: .bad, kind: .lane, short: "\(count) refused",
                    text: "The hub refuses the dispatchers' credentials, or does not exist, in \(count) "
                        + "(\(platforms(refused))): check HUB_NAME and the connection string.", section: "lanes"))
        }
        if !paused.isEmpty {
            let count = paused.count.counted("lane")
            troubles.append(
                Trouble(
                    level: .warn, kind: .lane, short: "\(count) paused",
                    text: "The hub throttles or fails: \(count) (\(platforms(paused))) paused or slow.",
                    section: "lanes"))
        }
        return troubles
    }

    private var queueTroubles: [Trouble] {
        queues.flatMap { queue -> [Trouble] in
            if let problem = queue.problem {
                return [
                    Trouble(
                        level: .warn, kind: .queue, short: "\(queue.name) is unknown",
                        text: "\(queue.name): \(problem)",
                        section: "queues")
                ]
            }
            let messages = queue.messages ?? 0
            switch queue.purpose {
            case "dispatch" where queue.consumers == 0:
                return [
                    Trouble(
                        level: .bad, kind: .queue, short: "No dispatcher consumes",
                        text: "No dispatcher consumes \(queue.name): \(messages.counted("message")) in it.",
                        section: "queues")
                ]
            case "dead" where messages > 0:
                let count = messages.counted("dead letter")
                return [
                    Trouble(
                        level: .warn, kind: .deadLetters, short: count, text: "\(count) in \(queue.name).",
                        section: "failures")
                ]
            default: return []
            }
        }
    }

    private var processTroubles: [Trouble] {
        processes.filter { $0.state != .ready }.map { process in
            let isAway = process.state == .unreachable
            let words = isAway ? "does not answer" : "is not ready"
            let name = process.kind.rawValue
            return Trouble(
                level: isAway ? .bad : .warn, kind: .process, short: "\(name) \(words)",
                text: "\(name) at \(process.address) \(words)" + (process.problem.map { ": \($0)" } ?? "."),
                since: process.since, section: "processes")
        }
    }

    private var workTroubles: [Trouble] {
        var troubles: [Trouble] = []
        if let age = outbox.oldestDueSeconds, age >= Self.lateSeconds {
            troubles.append(
                Trouble(
                    level: .bad, kind: .outbox, short: "Notifications wait in the outbox",
                    text: "The oldest notification that is due waits for \(age) s to be published.",
                    section: "outbox"))
        }
        if let failures, failures.notifications > 0 {
            let count = failures.notifications.counted("notification")
            troubles.append(
                Trouble(
                    level: .warn, kind: .failures, short: "\(failures.notifications) failed",
                    text: "\(count)\(failures.next == nil ? "" : " or more") failed on a platform.",
                    section: "failures"))
        }
        return troubles
    }
}

extension Int {
    /// `1 lane`, `2 lanes`.
    fileprivate func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
