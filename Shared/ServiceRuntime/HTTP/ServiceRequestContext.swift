public import Hummingbird
public import NIOCore
public import SecurePushCore

/// What a route knows of its request beside the request itself: with the address that it came from.
public struct ServiceRequestContext: RequestContext, RemoteAddressRequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The other end of the connection.
    public let remoteAddress: SocketAddress?

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

extension RequestContext {
    /// The client's address, for limits that hold per client; `nil` where there is none, as in a test without a port.
    public var clientAddress: ClientAddress? {
        (self as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress.flatMap { ClientAddress($0) }
    }
}
