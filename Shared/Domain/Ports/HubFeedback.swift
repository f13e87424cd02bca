package import Foundations

/// Reads the push services' rejections of handles, which the hub collects (Azure: "Per message telemetry and PNS
/// feedback"). Only the Standard tier collects them.
package protocol HubFeedback: Sendable {
    /// Reads the feedback that is new.
    ///
    /// - Parameter versions: ``FeedbackPage/versions`` of the page whose channels were handled last; empty at first.
    /// - Throws: ``PushGatewayError``.
    func feedback(after versions: [String: String]) async throws -> FeedbackPage
}

package struct FeedbackPage: Sendable, Hashable {
    /// The channels that push services have rejected, in the order of the feedback. A channel can be repeated.
    package var channels: [DeadChannel]
    /// The version of each file of feedback that was read, by its name.
    package var versions: [String: String]

    package init(channels: [DeadChannel], versions: [String: String]) {
        self.channels = channels
        self.versions = versions
    }
}

/// A handle that its push service has rejected for good.
package struct DeadChannel: Sendable, Hashable {
    /// The handle as the hub spells it.
    package var handle: String
    /// When the push service rejected it. A device that registered the handle later is not dead.
    package var rejectedAt: Timestamp

    package init(handle: String, rejectedAt: Timestamp) {
        self.handle = handle
        self.rejectedAt = rejectedAt
    }
}
