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
    private(set) var isSuspended = false

    /// Notes an answer of the push service about a device.
    ///
    /// - Returns: whether ``isSuspended`` has changed.
    mutating func note(isWrong: Bool) -> Bool {
        if answers.count < Self.window {
            answers.append(isWrong)
        } else {
            if answers[next] { wrong -= 1 }
            answers[next] = isWrong
            next = (next + 1) % Self.window
        }
        if isWrong { wrong += 1 }
        let before = isSuspended
        if isSuspended {
            isSuspended = wrong * 20 >= answers.count
        } else {
            isSuspended = answers.count >= Self.minAnswers && wrong * 5 > answers.count
        }
        return isSuspended != before
    }
}
