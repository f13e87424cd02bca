import Synchronization

/// Random numbers that a seed gives again, for everything that need not be secret: SplitMix64 (Steele, Lea and Flood,
/// 2014). It never asks the system.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    /// What ``next()`` adds to the state. A generator whose seed is `n` times this larger is `n` numbers ahead.
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15
    /// The state after all numbers of ``reserving(_:)``.
    private static let reserved = Atomic<UInt64>(.random(in: .min ... .max))

    private var state: UInt64

    /// A generator that begins after a seed, which may be any number.
    package init(seed: UInt64) { state = seed }

    /// A generator for some numbers that no other call in this process gets. The seed is the system's.
    package static func reserving(_ count: UInt64) -> SplitMix64 {
        SplitMix64(seed: reserved.wrappingAdd(count &* step, ordering: .relaxed).oldValue)
    }

    package mutating func next() -> UInt64 {
        state &+= Self.step
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
