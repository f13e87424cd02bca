import Domain
import Foundations
import StackKit
import Testing

@testable import NotificationHubs

/// The contract's limit: every push has at most 512 bytes, without the sender's own alert text.
@Suite struct PushSizeTests {
    private static let limit = 512

    /// One million plans that ingest accepts, each on one platform, signed or not, and every second one also withdrawn.
    /// The inputs are the same in every run.
    @Test func `A million random pushes stay within the limit`() throws {
        var generator = SeededGenerator(seed: 12)
        // The recipient is not in the body, so a short name saves time.
        let recipient = try #require(UserName("a"))
        let sig = String(repeating: "s", count: 86)
        let now = Timestamp(milliseconds: 1_780_000_000_000)
        let platforms = Platform.known
        var longest = platforms.map { _ in 0 }
        var plan = DispatchPlan(id: NotificationID(), recipient: recipient, expiresAt: now)
        for round in 0..<1_000_000 {
            let word = generator.next()
            plan.id = NotificationID(high: word, low: generator.next())
            plan.presentation = word & 1 == 0 ? .silent : .alert
            plan.priority = [nil, .normal, .high][Int(word >> 1 & 3) % 3]
            plan.collapseKey = word & 0x8008 == 0 ? Self.collapseKey(&generator) : nil
            plan.expiryBoundsPush = word & 16 != 0
            plan.expiresAt = now + .milliseconds(Int64(generator.next() >> 24))
            let index = Int(word >> 16 & 0xFF) % platforms.count
            let platform = platforms[index]
            let time = Int64(word >> 30)
            let signature = word & 32 == 0 ? nil : PushSignature(timestamp: time, signature: sig)
            let body: Int
            if word & 64 == 0 {
                body = plan.notification(for: platform, now: now, signature: signature)?.body.utf8.count ?? .max
            } else {
                let withdrawal = HubNotification.withdrawal(
                    of: plan.id, recipient: recipient, for: platform, signature: signature)
                body = withdrawal?.body.utf8.count ?? .max
            }
            if body > Self.limit { Issue.record("Round \(round): \(body) bytes for \(platform)") }
            if body > longest[index] { longest[index] = body }
        }
        // Every platform had its turn, and the limit was not far: a signed message of FCM with a long collapse key.
        #expect(!longest.contains(0))
        #expect(longest.contains { $0 > 350 })
    }

    /// Up to 64 bytes without control characters; those that JSON escapes are the longest.
    private static func collapseKey(_ generator: inout SeededGenerator) -> String {
        let letters: [UInt8] = Array(#""\/a#%"#.utf8)
        let isWorst = generator.next() & 3 == 0
        let count = isWorst ? 64 : 1 + generator.below(64)
        let worst = letters[generator.below(2)]
        return String(unsafeUninitializedCapacity: count) { buffer in
            for index in 0..<count { buffer[index] = isWorst ? worst : letters[generator.below(letters.count)] }
            return count
        }
    }

    /// The longest possible push of each platform, so that the limit does not depend on chance.
    @Test func `The longest push stays within the limit`() throws {
        let plan = try NativeBodyTests.plan {
            $0.collapseKey = String(repeating: "\"", count: 64)
            $0.priority = .normal
            $0.expiryBoundsPush = true
            $0.expiresAt = Timestamp.supported.upperBound
        }
        let signature = PushSignature(timestamp: .max, signature: String(repeating: "s", count: 86))
        for platform in Platform.known {
            let push = plan.notification(for: platform, now: NativeBodyTests.now, signature: signature)
            #expect((push?.body.utf8.count ?? .max) <= Self.limit, "\(platform)")
            let withdrawal = HubNotification.withdrawal(
                of: plan.id, recipient: plan.recipient, for: platform, signature: signature)
            #expect((withdrawal?.body.utf8.count ?? .max) <= Self.limit, "\(platform)")
        }
    }
}
