/// A message of the dead-letter queue, as it is held for an operator.
public struct DeadLetter: Sendable, Hashable {
    /// The broker's number of the delivery on the connection that holds it.
    public var tag: UInt64
    /// The message, or `nil` for one that cannot be read: its body is no notification's ID.
    public var message: DispatchMessage?
    /// Why it was given up; never anything of a payload.
    public var reason: String
    /// The length of its body in bytes: all that may be told of one that cannot be read.
    public var byteCount: Int

    public init(tag: UInt64, message: DispatchMessage?, reason: String, byteCount: Int) {
        self.tag = tag
        self.message = message
        self.reason = reason
        self.byteCount = byteCount
    }
}
