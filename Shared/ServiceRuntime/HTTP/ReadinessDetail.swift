/// Figures that an operator wants to see beside the parts, at `GET /readyz`; they decide nothing.
public struct ReadinessDetail: Sendable {
    /// As it appears at the top level of the answer.
    public let name: String
    /// The members of its object; `nil`: nothing is known yet, and it is left out. Must answer at once.
    public let figures: @Sendable () -> [(name: String, value: Int64)]?

    public init(name: String, figures: @escaping @Sendable () -> [(name: String, value: Int64)]?) {
        self.name = name
        self.figures = figures
    }
}
