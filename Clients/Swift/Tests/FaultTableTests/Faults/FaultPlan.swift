import Foundation
import SecurePushClient

/// One fault at one stage. The simulated parts ask it before they act.
///
/// Unchecked, because only the thread of the simulation touches it.
final class FaultPlan: @unchecked Sendable {
    let fault: Fault
    let stage: Stage
    let length: FaultLength
    private let clock: SimulatedClock
    private let disk: SimulatedDisk
    /// Whether the stage has been reached, and the fault strikes.
    private(set) var isActive = false
    private(set) var hasStruck = false
    private var isHealed = false
    /// Sends hostile pushes to the client.
    var attack: () -> Void = {}

    init(_ fault: Fault, at stage: Stage, length: FaultLength, clock: SimulatedClock, disk: SimulatedDisk) {
        self.fault = fault
        self.stage = stage
        self.length = length
        self.clock = clock
        self.disk = disk
    }

    /// The wake has reached a stage.
    func reach(_ reached: Stage) {
        guard reached == stage, !isActive, !isHealed else { return }
        isActive = true
        switch fault {
        case .clockForward: clock.dateOffset += 400 * 86_400
        case .clockBack: clock.dateOffset -= 400 * 86_400
        case .storeCorrupt: disk.corrupt()
        case .hostilePush: attack()
        default: return
        }
        hasStruck = true
    }

    /// Everything works again.
    func heal() {
        if isActive, fault == .clockForward { clock.dateOffset -= 400 * 86_400 }
        if isActive, fault == .clockBack { clock.dateOffset += 400 * 86_400 }
        isActive = false
        isHealed = true
    }

    /// The fault of a request, if it fails.
    func request(_ kind: Stage) async -> Fault? {
        // Both stages ask for a token: one because the old one has expired, one because it was refused.
        reach(stage == .refresh && kind == .token ? .refresh : kind)
        return strikes ? fault : nil
    }

    /// - Throws: if a call of the store fails.
    func store(writes: Bool, _ disk: SimulatedDisk) async throws {
        reach(.store)
        guard isActive else { return }
        switch fault {
        case .storeFull where writes, .storeReadOnly where writes:
            if strikes { throw ClientStoreError.unwritable }
        case .locked:
            if strikes { throw ClientStoreError.locked }
        case .storeThrows:
            if strikes { throw CocoaError(.fileReadUnknown) }
        case .storeHangs:
            if strikes { await Self.hang() }
        default: return
        }
    }

    /// - Throws: if the system refuses to show a secret.
    func present() async throws {
        reach(.present)
        if fault == .presenterHangs, strikes { await Self.hang() }
        if fault == .presenterRefuses, strikes { throw SecurePushFailure(code: .notPresented) }
    }

    /// A call of the system that does not end.
    private static func hang() async {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    private var strikes: Bool {
        guard isActive, length == .lasting || !hasStruck else { return false }
        hasStruck = true
        return true
    }
}
