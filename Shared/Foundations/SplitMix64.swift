/// Random numbers that a seed gives again, for everything that need not be secret: SplitMix64 (Steele, Lea and Flood,
/// 2014). It never asks the system.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    /// What ``next()`` adds to the state. A generator whose seed is `n` times this larger is `n` numbers ahead.
    static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    private var state: UInt64

    /// A generator that begins after a seed, which may be any number.
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= Self.step
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
