import ServiceRuntime
import Testing

@testable import ServiceConfiguration

@Suite("Durations in settings")
struct DurationParserTests {
    @Test(arguments: [
        ("0s", Duration.zero), ("500ms", .milliseconds(500)), ("30s", .seconds(30)), ("2m", .seconds(120)),
        ("1h", .seconds(3600)), ("30d", .seconds(30 * 86_400)), ("1.5h", .seconds(5400)), ("0.25s", .milliseconds(250)),
    ])
    func `A number and a unit are a duration`(text: String, duration: Duration) throws {
        #expect(try ConfigurationParser<Duration>.duration().parse(text) == duration)
    }

    @Test(arguments: [
        "", "30", "s", "-1s", "+1s", "1 s", "1w", "1S", "1.s", ".5s", "1.2.3s", "1.1234567s", "1e3s", "٣s",
        "9223372036854775807d", "1s,2s",
    ])
    func `Anything else is refused`(text: String) {
        #expect(throws: ConfigurationRefusal("is not a number and ms, s, m, h or d, as in 30s")) {
            try ConfigurationParser<Duration>.duration().parse(text)
        }
    }

    /// Every sum and product of a text or duration is bounded: none of these traps.
    @Test(arguments: [
        "9223372036854775807ms", "9223372036854775.807999s", "106751991167.300645d", "106751991168d",
        "9223372036854775807.999999ms", "99999999999999999999s", "0.999999d", "2562047788015.215500h",
    ])
    func `Nothing overflows`(text: String) {
        if let duration = Duration(configurationText: text) { #expect(!duration.configurationText.isEmpty) }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .nanoseconds(Int64.min), .zero])
    func `Every duration has a text`(duration: Duration) { #expect(duration.configurationText.last?.isLetter == true) }

    @Test func `A duration out of range is refused with the range`() {
        let parser = ConfigurationParser<Duration>.duration(.seconds(1) ... .seconds(86_400))
        #expect(throws: ConfigurationRefusal("is not from 1s to 1d")) { try parser.parse("500ms") }
        #expect(throws: ConfigurationRefusal("is not from 1s to 1d")) { try parser.parse("25h") }
    }

    @Test func `A list of durations is read`() throws {
        let parser = ConfigurationKeys.retryDelays.parser
        let expected: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120), .seconds(600)]
        #expect(try parser.parse("1s,5s, 30s,2m,10m") == expected)
        #expect(throws: ConfigurationRefusal("has an item that is not a number and ms, s, m, h or d, as in 30s")) {
            try parser.parse("1s,soon")
        }
    }

    @Test(arguments: ["0s", "1ms", "1500ms", "90s", "5m", "36h", "30d"])
    func `A duration is written in its shortest form`(text: String) {
        #expect(Duration(configurationText: text)?.configurationText == text)
    }
}
