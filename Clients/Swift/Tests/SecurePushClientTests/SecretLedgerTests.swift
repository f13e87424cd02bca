import Foundation
import Testing

@testable import SecurePushClient

@Suite struct SecretLedgerTests {
    private let limits = ClientLimits()

    private func id(_ text: String) throws -> PushID { try #require(PushID(text)) }

    @Test func aSecretIsShownOnce() throws {
        var ledger = SecretLedger()
        let id = try id("01")
        let isNew = ledger.learn(id, at: 0, limits)
        let claims = [("a", 0.0), ("a", 0), ("b", 4)].map { process, time in
            ledger.claim(id, by: process, isFirstReader: true, at: time, limits)
        }
        let end = ledger.settle(id, of: "a", isShown: true, at: 5)
        let late = ledger.claim(id, by: "b", isFirstReader: true, at: 20, limits)
        let isNewAgain = ledger.learn(id, at: 20, limits)
        #expect(isNew && !isNewAgain)
        #expect(claims == [.granted, .settled, .held(seconds: 6)])
        #expect(end == .noted && late == .settled)
    }

    @Test(arguments: [10, 11, 1_000_000, -1, -1_000_000])
    func aClaimOfADeadProcessIsInDoubt(_ age: Double) throws {
        var ledger = SecretLedger()
        let id = try id("01")
        _ = ledger.claim(id, by: "dead", isFirstReader: true, at: 0, limits)
        #expect(ledger.claims(besides: "me", at: 9, limits).map(\.secondsLeft) == [1])
        #expect(ledger.claims(besides: "dead", at: 9, limits).isEmpty)
        let claim = ledger.claim(id, by: "me", isFirstReader: true, at: age, limits)
        #expect(claim == .inDoubt(process: "dead"))
        #expect(ledger.claims(besides: "me", at: age, limits).map(\.secondsLeft) == [0])
        let end = ledger.settle(id, of: "dead", isShown: false, at: age)
        let second = ledger.claim(id, by: "me", isFirstReader: true, at: age, limits)
        #expect(end == .noted && second == .granted)
    }

    @Test func theOldestSettledIDsAreForgottenFirst() throws {
        var ledger = SecretLedger()
        let first = try id("first")
        ledger.learn(first, at: 0, limits)
        for number in 0..<1_500 {
            let id = try id("n\(number)")
            _ = ledger.claim(id, by: "a", isFirstReader: true, at: 1, limits)
            _ = ledger.settle(id, of: "a", isShown: true, at: 1)
        }
        #expect(ledger.entries.count == 1_000)
        #expect(ledger.waiting == [first])
        let (forgotten, last) = (try id("n499"), try id("n1499"))
        #expect(ledger[forgotten] == nil)
        #expect(ledger[last]?.progress == .shown)
    }

    /// A signed push can be repeated for 28 days.
    @Test func aForgottenIDIsNotShownAgain() throws {
        var ledger = SecretLedger()
        for number in 0..<3_000 {
            let id = try id("n\(number)")
            _ = ledger.claim(id, by: "a", isFirstReader: true, at: 1, limits)
            _ = ledger.settle(id, of: "a", isShown: number != 0, at: 1)
            // The first one waits, and is forgotten as settled only after it was withdrawn.
            if number == 1_500 { ledger.withdraw(try self.id("n0"), at: 1, limits) }
        }
        var copy = try JSONDecoder().decode(SecretLedger.self, from: try JSONEncoder().encode(ledger))
        for name in ["n0", "n1", "n1999"] {
            let id = try id(name)
            #expect(copy[id] == nil)
            let isNew = copy.learn(id, at: 2, limits)
            let claim = copy.claim(id, by: "b", isFirstReader: true, at: 2, limits)
            #expect(!isNew && claim == .settled)
        }
        let isNew = copy.learn(try id("n3000"), at: 2, limits)
        #expect(isNew)
    }

    @Test func hashesAreBounded() throws {
        var forgotten = ForgottenIDs()
        for number in 0..<10_001 { forgotten.append(try id("n\(number)")) }
        #expect(forgotten.hashes.count == 64_000)
        let (old, last) = (try id("n2000"), try id("n10000"))
        #expect(!forgotten.contains(old) && forgotten.contains(last))
    }

    @Test(arguments: [400.0, -400])
    func aJumpOfTheClockForgetsNothing(_ days: Double) throws {
        var ledger = SecretLedger()
        let shown = try id("shown")
        _ = ledger.claim(shown, by: "a", isFirstReader: true, at: 0, limits)
        _ = ledger.settle(shown, of: "a", isShown: true, at: 0)
        ledger.learn(try id("new"), at: days * 86_400, limits)
        let isNew = ledger.learn(shown, at: 1, limits)
        #expect(!isNew)
    }

    @Test func whatCouldNotBeStoredIsMerged() throws {
        var (stored, unsaved) = (SecretLedger(), SecretLedger())
        let (a, b) = (try id("a"), try id("b"))
        stored.learn(a, at: 0, limits)
        _ = unsaved.claim(a, by: "x", isFirstReader: true, at: 1, limits)
        _ = unsaved.settle(a, of: "x", isShown: true, at: 1)
        unsaved.learn(b, at: 1, limits)
        stored.merge(unsaved)
        #expect(stored[a]?.progress == .shown && stored.waiting == [b])
        unsaved.merge(SecretLedger())
        #expect(unsaved[a]?.progress == .shown)
    }
}
