import Testing

@testable import SecurePushClient

@Suite struct PushVerifierTests {
    @Test func placeholder() { #expect(PushID("a") != nil) }
}
