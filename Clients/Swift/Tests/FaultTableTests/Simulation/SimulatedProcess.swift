import SecurePushClient

/// A process of the device: the app or its service extension. It can die before or after the effect of any call of its
/// store, transport or presenter.
///
/// A dead process does nothing more: its calls do not return. Unchecked, because only the thread of
/// ``SimulatedExecutor`` touches it.
final class SimulatedProcess: @unchecked Sendable {
    /// The number of the point at which it dies, from 1; `nil`: it lives.
    private let lastPoint: Int?
    /// The names of the points that it has reached.
    private(set) var points: [String] = []
    private(set) var isDead = false
    private var onDeath: (() -> Void)?

    init(diesAt lastPoint: Int? = nil) { self.lastPoint = lastPoint }

    /// Runs the effect of a call, with a point before and one after it.
    func call<Value>(_ name: String, _ effect: () async throws -> Value) async rethrows -> Value {
        await point("before \(name)")
        let value: Value
        do { value = try await effect() } catch {
            await point("after failed \(name)")
            throw error
        }
        await point("after \(name)")
        return value
    }

    /// Waits for the end of a body, or for the death of the process.
    ///
    /// - Returns: whether the body came to its end.
    func live(_ body: @escaping @Sendable () async -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            let ending = Ending(continuation)
            onDeath = { ending.resume(false) }
            Task {
                await body()
                ending.resume(true)
            }
        }
    }

    private func point(_ name: String) async {
        if !isDead {
            points.append(name)
            guard points.count == lastPoint else { return }
            isDead = true
            onDeath?()
        }
        // The rest of the process stays suspended.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    /// Unchecked, because only the thread of the simulation touches it.
    private final class Ending: @unchecked Sendable {
        private var continuation: CheckedContinuation<Bool, Never>?

        init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = continuation }

        func resume(_ value: Bool) {
            continuation?.resume(returning: value)
            continuation = nil
        }
    }
}
