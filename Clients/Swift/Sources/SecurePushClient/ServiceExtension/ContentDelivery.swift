import Foundation

/// The one answer to the system.
///
/// It is unchecked because the lock guards all that changes.
final class ContentDelivery: @unchecked Sendable {
    private let lock = NSLock()
    private var best: ServiceContent
    private var completion: (@Sendable (ServiceContent) -> Void)?

    init(of content: ServiceContent, to completion: @escaping @Sendable (ServiceContent) -> Void) {
        best = content
        self.completion = completion
    }

    /// Sets the content that is delivered at the end, or when the time is up.
    ///
    /// - Returns: whether it will be delivered; `false` if the system has its answer already.
    @discardableResult
    func offer(_ content: ServiceContent) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        best = content
        return completion != nil
    }

    /// Delivers the content, or the last offer.
    ///
    /// - Returns: whether this call delivered; `false` if another one did so before.
    @discardableResult
    func complete(_ content: ServiceContent? = nil) -> Bool {
        lock.lock()
        let (call, best) = (completion, content ?? best)
        completion = nil
        lock.unlock()
        call?(best)
        return call != nil
    }
}
