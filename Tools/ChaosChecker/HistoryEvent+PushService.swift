extension HistoryEvent {
    /// What the push service of a platform, behind hubs of one's own, says after the run, and what the hubs say of its
    /// devices.
    package struct PushService: Codable, Sendable, Equatable {
        package var time: Int64
        /// `nil` in histories from before there were others than `browser`.
        package var platform: String?
        /// Such as `requests.all`, `faults.503`, `refused.400 BadUrgency`.
        package var counts: [String: Int]
        /// Mistakes of the hubs that no answer can tell.
        package var problems: [String]
        /// The devices whose handles are good.
        package var alive: [String]
        /// The devices to which a hub pushes.
        package var registered: [String]

        package init(
            time: Int64, platform: String? = nil, counts: [String: Int] = [:], problems: [String] = [], alive: [String],
            registered: [String]
        ) {
            self.time = time
            self.platform = platform
            self.counts = counts
            self.problems = problems
            self.alive = alive
            self.registered = registered
        }
    }
}
