/// Decides whether devices with wrong addresses may be removed. With a wrong environment or wrong credentials all
/// addresses seem wrong, and the devices must not be removed. A value without I/O.
struct RemovalGuard: Sendable {
    /// The number of answers that count, the newest.
    static let window = 1000
    /// With fewer answers, removals are not suspended.
    static let minAnswers = 50

    /// In the order of their arrival, from ``next`` on once it is full: whether each said that the address is wrong.
    private var answers: [Bool] = []
    private var next = 0
    private var wrong = 0
    /// Whether this process has suspended the removals, and whether another process has, or this one before a restart.
    private var isSuspendedHere = false
    private var isSuspendedElsewhere = false
    /// Whether the credentials have changed while removals were suspended.
    private var mustResume: Bool
    /// The decision that is not in the store yet. Until it is stored, the store's decision is older.
    private(set) var unwritten: Turn?
    /// The number of decisions so far.
    private(set) var decisions: Int

    /// The decision that all processes have to know.
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

    /// Notes whether any process has suspended the removals. A decision of this process that was not stored when the
    /// store was read is newer, and takes precedence.
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
