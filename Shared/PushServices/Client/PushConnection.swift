import NIOCore

/// A connection of HTTP/1.1 or HTTP/2 to a push service. It lives on its channel's event loop, and tells the client
/// how its requests end.
protocol PushConnection: AnyObject {
    /// Puts a request on the connection, which has room. ``flush()`` follows.
    func start(_ send: PushSend)
    func flush()
    /// Ends a request, if it is in flight here.
    func interrupt(_ number: UInt64, _ interruption: PushInterruption)
    /// Sends a PING to test the connection. Only for HTTP/2.
    func check()
    /// Time has passed.
    func tick(now: NIODeadline)
    /// Closes the connection when its requests have ended.
    func retire()
}

/// The reports of a connection to its client. All are made on the event loop.
protocol PushConnectionOwner: AnyObject {
    func connected(_ dial: PushDial, _ connection: any PushConnection, room: Int, isMultiplexed: Bool)
    func connectFailed(_ dial: PushDial, _ error: any Error)
    func roomChanged(of connection: Int, to room: Int)
    /// A request has ended for its caller.
    func finished(_ send: PushSend, _ result: PushHTTPResult)
    /// A request was not processed.
    func notProcessed(_ send: PushSend, reason: String, on connection: Int)
    /// A request is no longer in flight.
    func ended(on connection: Int)
    func pingAnswered(on connection: Int)
    func pingUnanswered(on connection: Int)
    func goneAway(_ connection: Int, code: String, reason: String?)
    /// The connection takes no more requests.
    func left(_ connection: Int, wasUseful: Bool)
    func closed(_ connection: Int)
    func broke(_ connection: Int, _ error: any Error)
}
