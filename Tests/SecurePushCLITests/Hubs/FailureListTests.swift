import Domain
import Testing

@testable import SecurePushCLI

/// The devices that a command could not put or move.
@Suite struct FailureListTests {
    @Test func `All failures are counted, and the first thousand are listed`() throws {
        var refill = RefillReport()
        var rebalance = RebalanceReport()
        for number in 0..<2203 {
            let device = DeviceReference(kind: .installation, id: "i\(number)")
            refill.failures.add(device, "no")
            rebalance.count(HubWriter.Item(device: device, work: .copy), "no")
        }
        #expect(refill.failures == rebalance.failures)
        #expect(refill.failures.count == 2203 && refill.done == 2203 && rebalance.failed == 2203)
        #expect(refill.failures.listed.count == 1000 && refill.failures.listed.last?.id == "i999")
        #expect(refill.failures.rest == "1,203 more failed. Only the first 1,000 are listed.")
        #expect(refill.summary.hasSuffix("2203 failed") && rebalance.summary.hasSuffix("2,203 failed"))
        #expect(try JSONCoding.encode(refill).contains(#""Failed":2203"#))
        #expect(try JSONCoding.encode(rebalance).contains(#""Failed":2203"#))
    }

    @Test func `A list that is complete says nothing more`() {
        var failures = DeviceFailures()
        #expect(failures.rest == nil)
        for number in 0..<1000 {
            failures.add(DeviceReference(kind: .registration, id: "r\(number)"), "no")
        }
        #expect(failures.rest == nil && failures.listed.count == 1000)
    }
}
