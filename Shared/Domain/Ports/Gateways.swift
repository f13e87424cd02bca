package import Foundations

/// Sends native notifications through the hub.
package protocol PushGateway: Sendable {
    /// Sends one notification and calls back exactly once, on any thread, within the gateway's deadline.
    ///
    /// This is a callback and not `async` because three sends per notification are the hottest path, and a task per
    /// send costs more than the send. The callback must not block. A gateway never retries; the dispatcher does.
    ///
    /// - Parameter trace: for a span of the request; `nil` if it is not traced.
    func send(
        _ notification: HubNotification, trace: PushTrace?, completion: @escaping @Sendable (SendOutcome) -> Void)

    /// Begins to stop, and returns at once. Later sends are answered with ``SendOutcome/notSent(reason:)``. Every
    /// request in flight is answered at its own deadline or after `duration`, whichever comes first. Calling it again
    /// has an effect only if the duration ends earlier.
    func stop(within duration: Duration)

    /// Where tasks that send often should run; `nil` if it does not matter. They must not block.
    var executor: (any TaskExecutor)? { get }
}

extension PushGateway {
    package var executor: (any TaskExecutor)? { nil }
}

/// What the span of one send needs. It is a class, because a send passes through several queues, mostly without one.
package final class PushTrace: Sendable {
    /// The span that the send is below.
    package let parent: TraceContext
    /// How often the notification was sent to the platform before.
    package let resendCount: Int

    package init(parent: TraceContext, resendCount: Int) {
        self.parent = parent
        self.resendCount = resendCount
    }
}

/// Registers devices with the hub.
package protocol RegistrationGateway: Sendable {
    /// Asks the hub for a new registration ID.
    func createRegistrationID() async throws -> String

    /// Creates or overwrites a registration with exactly these tags.
    ///
    /// - Throws: ``PushGatewayError``; with the code `gone` if the hub has dropped that ID.
    func putRegistration(_ id: String, platform: RegistrationPlatform, handle: String, tags: [String]) async throws

    /// All registrations with a handle, with those that represent installations.
    func registrations(handle: String) async throws -> [HubRegistration]

    /// Deletes a registration. It is not an error if there is none.
    func deleteRegistration(_ id: String) async throws
}

/// Keeps the installations of devices in the hub.
package protocol InstallationGateway: Sendable {
    /// Creates or overwrites an installation.
    ///
    /// - Parameter document: JSON in the hub's own form.
    /// - Throws: ``PushGatewayError``.
    func putInstallation(_ id: String, document: [UInt8]) async throws

    /// Deletes an installation. It is not an error if there is none.
    func deleteInstallation(_ id: String) async throws
}

/// One native notification for the hub: the format, the tag of the recipient, and a body that carries only the ID.
package struct HubNotification: Sendable, Hashable {
    /// The hub's format.
    package var platform: Platform
    /// The encoded tag of the recipient; see ``UserName/tag``.
    package var tag: String
    /// The value of `Content-Type`.
    package var contentType: String
    /// Further headers (`apns-push-type`, `X-WNS-Type`, …).
    package var headers: [Header]
    package var body: String

    package struct Header: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(platform: Platform, tag: String, contentType: String, headers: [Header], body: String) {
        self.platform = platform
        self.tag = tag
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }
}

/// The result of one send, classified by the next step.
package enum SendOutcome: Sendable, Hashable {
    /// 201 or 200: the hub has queued it. Only the Standard tier returns an ID, and only SecurePush's own hub says what
    /// the push services made of it so far.
    case sent(hubMessageID: String?, outcome: MessageOutcome? = nil)
    /// 429, or 403 with `Retry-After`: too many requests. The notification itself is fine.
    case throttled(retryAfter: Duration?)
    /// 408 or 5xx: try again. After an ambiguous status the hub may have accepted it: a gateway before the hub has
    /// answered for it (408, 502, 504).
    case unavailable(reason: String, retryAfter: Duration?, isAmbiguous: Bool = false)
    /// Nothing of the request left this process: there was no connection, none was free in time, or the sender stops.
    /// The hub has certainly not accepted it. The notification itself is fine.
    case notSent(reason: String)
    /// The request was written and there was no answer. The hub may have queued it. Try again and record this.
    case unanswered(reason: String)
    /// 400, 413 and similar: the same request would fail again. Without a status the request was never written, because
    /// it could not be valid.
    case rejected(reason: String, status: Int? = nil)
    /// 401, or 403 without `Retry-After`: the hub does not accept our credentials.
    case unauthorized(reason: String)
    /// 404: the endpoint has no hub of this name. The notification itself is fine.
    case hubNotFound(reason: String)
}
