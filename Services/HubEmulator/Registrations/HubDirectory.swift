import Synchronization

/// The hubs of the namespace and what is registered on each. A hub begins with its first registration.
final class HubDirectory: Sendable {
    private let books = Mutex<[String: RegistrationBook]>([:])

    /// Works on the book of one hub, alone.
    ///
    /// - Parameter hubKey: the hub's name in lower case.
    func withBook<Result: Sendable>(
        _ hubKey: String, _ body: (inout RegistrationBook) throws(HubError) -> Result
    ) throws(HubError) -> Result {
        try books.withLock { books throws(HubError) in try body(&books[hubKey, default: RegistrationBook()]) }
    }

    /// Who a send is for.
    func targets(_ hubKey: String, format: NotificationFormat, expression: TagExpression?) -> [Registration] {
        books.withLock { $0[hubKey]?.targets(of: format, expression: expression) ?? [] }
    }
}
