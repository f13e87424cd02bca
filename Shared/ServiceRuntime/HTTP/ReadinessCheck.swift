/// One part that a service depends on, asked at `GET /readyz`.
public struct ReadinessCheck: Sendable {
    /// As it appears in the answer: `database`, `amqp`.
    public let name: String
    /// Whether the service is of no use without it; one that is not required is only named as down.
    public let isRequired: Bool
    /// `nil`: fine; else what is wrong, for an operator, without secrets. Has two seconds, then it is cancelled.
    public let check: @Sendable () async -> String?

    public init(name: String, isRequired: Bool = true, check: @escaping @Sendable () async -> String?) {
        self.name = name
        self.isRequired = isRequired
        self.check = check
    }
}
