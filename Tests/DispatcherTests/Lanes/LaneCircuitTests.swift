import Domain
import Testing

@testable import Dispatcher

/// The circuit, as a table of what happens and what it then lets through.
@Suite struct LaneCircuitTests {
    /// One step; times are seconds since the beginning.
    enum Step: Sendable, CustomStringConvertible {
        case answer(SendOutcome, at: Double)
        case answers(Int, SendOutcome, at: Double)
        case probeAnswer(SendOutcome, at: Double)
        case admits(LaneCircuit.Admission, at: Double)
        case cause(HubProblem?)

        var description: String {
            switch self {
            case .answer(let outcome, let time): "\(outcome.meaning.label)@\(time)"
            case .answers(let count, let outcome, let time): "\(count)x\(outcome.meaning.label)@\(time)"
            case .probeAnswer(let outcome, let time): "probe:\(outcome.meaning.label)@\(time)"
            case .admits(let admission, let time): "\(admission)@\(time)"
            case .cause(let cause): "\(cause.map { "\($0)" } ?? "closed")"
            }
        }
    }

    static let sent = SendOutcome.sent(hubMessageID: nil)
    static let throttled = SendOutcome.throttled(retryAfter: nil)
    static let fails = SendOutcome.unavailable(reason: "503", retryAfter: nil)
    static let silent = SendOutcome.unanswered(reason: "no answer in time")
    static let refused = SendOutcome.unauthorized(reason: "401")
    static let notFound = SendOutcome.hubNotFound(reason: "404")
    static let notSent = SendOutcome.notSent(reason: "no connection to the hub")
    static func throttled(_ seconds: Int) -> SendOutcome { .throttled(retryAfter: .seconds(seconds)) }

    static let courses: [[Step]] = [
        // Closed: traffic, whatever single failures there are.
        [
            .admits(.traffic, at: 0), .answers(9, fails, at: 0), .admits(.traffic, at: 0), .answer(sent, at: 0),
            .answers(9, silent, at: 0), .admits(.traffic, at: 0), .cause(nil),
        ],
        // A refusal of the notification is the hub at work.
        [
            .answers(9, throttled, at: 0), .answer(.rejected(reason: "400"), at: 0), .answers(9, throttled, at: 0),
            .admits(.traffic, at: 0),
        ],
        // Ten in a row, of any kind, open it for a second.
        [
            .answers(4, fails, at: 0), .answers(3, silent, at: 0), .answers(3, throttled, at: 0), .cause(.throttled),
            .admits(.held, at: 0.9), .admits(.probe, at: 1), .admits(.held, at: 1), .admits(.held, at: 60),
        ],
        // Retry-After opens it at once, for as long as the hub says; a longer wait prolongs it, others do not.
        [
            .answer(throttled(30), at: 0), .cause(.throttled), .admits(.held, at: 29), .answer(throttled(5), at: 1),
            .answer(throttled(39), at: 1), .answer(sent, at: 2), .answer(refused, at: 2), .admits(.held, at: 39),
            .admits(.probe, at: 40),
        ],
        [
            .answer(.unavailable(reason: "503", retryAfter: .seconds(7)), at: 0), .cause(.failing),
            .admits(.held, at: 6), .admits(.probe, at: 7),
        ],
        // Even a wait of nothing is one.
        [.answer(throttled(0), at: 0), .admits(.held, at: 0.2), .admits(.probe, at: 0.25)],
        // One probe a Retry-After, and traffic once it is answered well.
        [
            .answer(throttled(5), at: 0), .admits(.probe, at: 5), .probeAnswer(throttled(5), at: 6),
            .admits(.held, at: 10), .admits(.probe, at: 11), .admits(.held, at: 11), .probeAnswer(sent, at: 12),
            .cause(nil), .admits(.traffic, at: 12),
        ],
        // Without Retry-After the waits double, up to fifteen seconds.
        [
            .answers(10, fails, at: 0), .admits(.probe, at: 1), .probeAnswer(fails, at: 1), .admits(.held, at: 2.9),
            .admits(.probe, at: 3), .probeAnswer(silent, at: 3), .admits(.held, at: 6.9), .admits(.probe, at: 7),
            .probeAnswer(fails, at: 7), .admits(.probe, at: 15), .probeAnswer(fails, at: 15), .admits(.held, at: 29),
            .admits(.probe, at: 30), .probeAnswer(fails, at: 30), .admits(.held, at: 44), .admits(.probe, at: 45),
        ],
        // While a probe is under way the answers to older requests change nothing.
        [
            .answer(throttled(5), at: 0), .admits(.probe, at: 5), .answer(sent, at: 5), .answer(refused, at: 5),
            .admits(.held, at: 5), .probeAnswer(sent, at: 6), .admits(.traffic, at: 6),
        ],
        // A refused token is made anew once; when the new one is taken, all is well.
        [
            .answer(refused, at: 0), .cause(.refused), .admits(.probe, at: 0), .admits(.held, at: 0),
            .probeAnswer(sent, at: 1), .cause(nil), .admits(.traffic, at: 1),
        ],
        // When it is refused too, the credentials are wrong: a probe every five seconds.
        [
            .answer(refused, at: 0), .admits(.probe, at: 0), .probeAnswer(refused, at: 1), .cause(.credentials),
            .admits(.held, at: 5.9), .admits(.probe, at: 6), .probeAnswer(refused, at: 6), .cause(.credentials),
            .admits(.probe, at: 11), .probeAnswer(sent, at: 11), .admits(.traffic, at: 11),
        ],
        // One 404 may be a gateway's mistake; the second says that the hub is not there: a probe every five seconds.
        [
            .answer(notFound, at: 0), .cause(.notFound), .admits(.probe, at: 0), .probeAnswer(notFound, at: 1),
            .cause(.noHub), .admits(.held, at: 5.9), .admits(.probe, at: 6), .probeAnswer(notFound, at: 6),
            .cause(.noHub), .admits(.probe, at: 11), .probeAnswer(sent, at: 11), .admits(.traffic, at: 11),
        ],
        [.answer(notFound, at: 0), .admits(.probe, at: 0), .probeAnswer(sent, at: 0), .cause(nil)],
        // A 404 and a 401 in turn are not answered by one probe after the other.
        [
            .answer(notFound, at: 0), .admits(.probe, at: 0), .probeAnswer(refused, at: 0), .cause(.credentials),
            .admits(.held, at: 4.9), .admits(.probe, at: 5), .probeAnswer(notFound, at: 5), .cause(.noHub),
            .admits(.held, at: 9.9), .admits(.probe, at: 10),
        ],
        // Without a connection: as with any failure, ten in a row.
        [
            .answers(9, notSent, at: 0), .admits(.traffic, at: 0), .answer(notSent, at: 0), .cause(.unreachable),
            .admits(.held, at: 0.9), .admits(.probe, at: 1), .probeAnswer(sent, at: 1), .cause(nil),
        ],
        // A probe for another cause that is refused is the first refusal.
        [
            .answer(throttled(5), at: 0), .admits(.probe, at: 5), .probeAnswer(refused, at: 5), .cause(.refused),
            .admits(.probe, at: 5), .probeAnswer(refused, at: 5), .cause(.credentials),
        ],
    ]

    @Test(arguments: courses)
    func `Runs the course`(_ steps: [Step]) {
        let start = LaneClock.Instant.now
        func time(_ seconds: Double) -> LaneClock.Instant { start + .milliseconds(Int64(seconds * 1000)) }
        var circuit = LaneCircuit()
        for (number, step) in steps.enumerated() {
            switch step {
            case .answer(let outcome, let at): circuit.observe(outcome.meaning, isProbe: false, now: time(at))
            case .answers(let count, let outcome, let at):
                for _ in 0..<count { circuit.observe(outcome.meaning, isProbe: false, now: time(at)) }
            case .probeAnswer(let outcome, let at): circuit.observe(outcome.meaning, isProbe: true, now: time(at))
            case .admits(let admission, let at):
                #expect(circuit.admit(now: time(at)) == admission, "step \(number) of \(steps)")
            case .cause(let cause): #expect(circuit.state.pause?.cause == cause, "step \(number) of \(steps)")
            }
        }
    }

    /// What is held during a probe must not be back before a hub that does not answer has let the probe run out.
    @Test func `What is held during a probe stays away as long as the lane would rest`() {
        let start = LaneClock.Instant.now
        var circuit = LaneCircuit()
        for _ in 0..<LaneCircuit.maxFailures { circuit.observe(Self.silent.meaning, isProbe: false, now: start) }
        #expect(circuit.state.remaining(now: start) == LaneCircuit.firstInterval)
        let later = start + .seconds(5)
        #expect(circuit.admit(now: later) == .probe)
        #expect(circuit.state.remaining(now: later) == LaneCircuit.firstInterval)
        circuit.observe(Self.silent.meaning, isProbe: true, now: later)
        #expect(circuit.state.remaining(now: later) == LaneCircuit.firstInterval * 2)
    }
}
