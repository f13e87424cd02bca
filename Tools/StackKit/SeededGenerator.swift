import Foundation
import Foundations

/// Random numbers that a seed gives again in every run and on every machine, so that a failure can be repeated:
/// ``SplitMix64``, with what tests need besides.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64

    package init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    package mutating func next() -> UInt64 { generator.next() }

    /// A number below a limit. The small bias does not matter, and it costs less than `Int.random` in debug builds.
    package mutating func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % limit }

    /// The number of rounds of a test: that of the environment variable, or the default.
    package static func rounds(_ variable: String, default rounds: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? rounds
    }
}
