/// Whether the devices with wrong addresses may be removed: a wrong environment or credential, which makes all addresses
/// wrong, must not erase the devices. A value without I/O.
struct RemovalGuard: Sendable {
    /// The answers that count: the newest.
    static let window = 1000
    /// Below this many answers nothing is concluded.
    static let minAnswers = 50

    /// In the order of their arrival, from ``next`` on once it is full: whether each said that the address is wrong.
    private var answers: [Bool] = []
    private var next = 0
    private var wrong = 0
    /// Whether this process has stopped the removals, and whether another one has, or this one before a restart.
    private var isSuspendedHere = false
    private var isSuspendedElsewhere = false
    /// Whether the credentials have changed while removals were suspended.
    private var mustResume: Bool
    /// The decision that is not in the store yet. Until it is, the store says nothing new.
    private(set) var unwritten: Turn?
    /// The number of decisions so far.
    private(set) var decisions: Int

    /// What all processes have to know.
    enum Turn: Sendable {
        case suspended, resumed
    }

    /// - Parameter former: the guard under the former credentials.
    init(after former: RemovalGuard? = nil) {
        mustResume = former.map { $0.isSuspended || $0.mustResume } ?? false
        unwritten = former?.unwritten
        decisions = former?.decisions ?? 0
    }

    var isSuspended: Bool { isSuspendedHere || isSuspendedElsewhere }

    /// Notes whether any process has stopped the removals. A decision of this process that the store did not have when
    /// it was read is newer, and counts.
    ///
    /// - Parameter number: ``decisions`` before the store was read.
    /// - Returns: whether ``isSuspended`` has changed.
    mutating func follow(_ isSuspended: Bool, after number: Int) -> Bool {
        guard unwritten == nil, number == decisions else { return false }
        let before = self.isSuspended
        isSuspendedElsewhere = isSuspended && !mustResume
        return self.isSuspended != before
    }

    /// Notes that the store has a decision.
    ///
    /// - Parameter number: ``decisions`` when it was the newest.
    mutating func noteWritten(_ number: Int) {
        if number == decisions { unwritten = nil }
    }

    /// Notes an answer of the push service about a device.
    mutating func note(isWrong: Bool) -> Turn? {
        guard let turn = decide(isWrong: isWrong) else { return nil }
        decisions += 1
        unwritten = turn
        return turn
    }

    private mutating func decide(isWrong: Bool) -> Turn? {
        if answers.count < Self.window {
            answers.append(isWrong)
        } else {
            if answers[next] { wrong -= 1 }
            answers[next] = isWrong
            next = (next + 1) % Self.window
        }
        if isWrong { wrong += 1 }
        if mustResume {
            mustResume = false
            return .resumed
        }
        guard answers.count >= Self.minAnswers else { return nil }
        if isSuspended, wrong * 20 < answers.count {
            (isSuspendedHere, isSuspendedElsewhere) = (false, false)
            return .resumed
        }
        if !isSuspendedHere, wrong * 5 > answers.count {
            isSuspendedHere = true
            return .suspended
        }
        return nil
    }
}
