import Foundation
import SecurePushCore

/// Random numbers that a seed gives again in every run and on every machine, so that a failure can be repeated:
/// ``SplitMix64``, with what tests need besides.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64

    public init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    public mutating func next() -> UInt64 { generator.next() }

    /// A number below a limit. The small bias does not matter, and it costs less than `Int.random` in debug builds.
    public mutating func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % limit }

    /// The number of rounds of a test: that of the environment variable, or the default.
    public static func rounds(_ variable: String, default rounds: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? rounds
    }
}
