import Foundation

/// Random numbers that a seed gives again in every run and on every machine, so that a failure can be repeated:
/// SplitMix64 (Steele, Lea and Flood, 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// A number below a limit. The small bias does not matter, and it costs less than `Int.random` in debug builds.
    public mutating func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % limit }

    /// The number of rounds of a test: that of the environment variable, or the default.
    public static func rounds(_ variable: String, default rounds: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? rounds
    }
}
