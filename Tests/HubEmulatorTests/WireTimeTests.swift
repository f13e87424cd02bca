import Testing

@testable import HubEmulator

@Suite struct WireTimeTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-21T10:00:00", 1_795_255_200_000),
            ("2026-11-21T10:00:00.5Z", 1_795_255_200_500), ("2026-11-21T10:00:00.1239999Z", 1_795_255_200_123),
            ("2026-11-21T12:00:00+02:00", 1_795_255_200_000), ("2026-11-20T22:30:00-11:30", 1_795_255_200_000),
        ] as [(String, Int64)])
    func timesAreRead(_ text: String, _ milliseconds: Int64) {
        #expect(WireTime(iso8601: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "soon", "2026-11-21", "2026-13-21T10:00:00Z", "2026-11-32T10:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T10:60:00Z", "2026-11-21T10:00:00.Z", "2026-11-21T10:00:00ZZ", "2026-11-21T10:00:00+2:00",
        "2026-11-21T10:00:00+15:00", "２026-11-21T10:00:00Z", "2026-11-21 10:00:00Z",
    ])
    func otherTextsAreNone(_ text: String) {
        #expect(WireTime(iso8601: text) == nil)
    }
}
