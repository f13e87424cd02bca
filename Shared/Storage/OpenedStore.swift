public import SecurePushCore
public import ServiceLifecycle

/// Which of the stores one is.
public enum StoreKind: String, Sendable, CaseIterable {
    case memory
    case sqlite
    case postgres
}

/// A store, and the service that it works by.
public struct OpenedStore: Sendable {
    public let store: any Store
    /// Takes requests from the start of its `run()` until its graceful shutdown, when it finishes what it was given.
    /// Calls of ``store`` at other times throw ``StorageError`` with code `unavailable`.
    public let service: any Service
    public let kind: StoreKind

    init(_ store: some Store, service: some Service, kind: StoreKind) {
        self.store = store
        self.service = service
        self.kind = kind
    }
}
