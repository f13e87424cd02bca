import Foundations
import Testing

struct TimestampTests {
    static let knownTimes: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_795_262_400_123, "2026-11-21T12:00:00.123Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
    ]

    @Test(arguments: knownTimes)
    func `Known times are written and read`(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test func `Every day from 1970 to 2400 goes there and back`() {
        for day in 0..<157_000 {
            let time = Timestamp(milliseconds: Int64(day) * 86_400_000 + Int64(day % 86_400) * 1000 + 7)
            #expect(Timestamp(rfc3339: time.description) == time)
        }
    }

    @Test(arguments: [
        ("2026-11-21T13:00:00+01:00", "2026-11-21T12:00:00.000Z"),
        ("2026-11-21T00:30:00-11:30", "2026-11-21T12:00:00.000Z"),
        ("2026-11-21t12:00:00z", "2026-11-21T12:00:00.000Z"),
        ("2026-11-21T12:00:00.1Z", "2026-11-21T12:00:00.100Z"),
        ("2026-11-21T12:00:00.123999999Z", "2026-11-21T12:00:00.123Z"),
        ("2026-11-21T12:00:00-00:00", "2026-11-21T12:00:00.000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
    ])
    func `Offsets, fractions and lower case are read`(_ text: String, _ expected: String) {
        #expect(Timestamp(rfc3339: text)?.description == expected)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T12:00:00", "2026-11-21 12:00:00Z", "2026-11-21T12:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T12:60:00Z", "2026-11-21T12:00:61Z", "2026-11-21T12:00:00.Z", "2026-11-21T12:00:00+1:00",
        "2026-11-21T12:00:00+24:00", "2026-11-21T12:00:00Zx", "+2026-11-21T12:00:00Z", "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-23:59", "1970-01-01T00:00:00+23:59",
        "1970-01-01T00:00:00+00:01", "1969-12-31T23:00:00-02:00",
        "2026-11-21T12:00:00\u{660}Z", "2026-11-\u{662}1T12:00:00Z", "2026-11-00T12:00:00Z",
    ])
    func `What is no date-time of RFC 3339 is none`(_ text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `Sums and differences that no 64 bits hold are the nearest that they do`() {
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(last + .seconds(1) == last && first - .seconds(1) == first)
        #expect(last - .seconds(-1) == last && first + .seconds(-1) == first)
        #expect(Timestamp(milliseconds: 0) + .seconds(Int64.max) == last)
        #expect(Timestamp(milliseconds: 0) - .seconds(Int64.max) == Timestamp(milliseconds: -.max))
        #expect((last - first).milliseconds == .max && (first - last).milliseconds == .min)
        #expect(Duration.seconds(Int64.min).milliseconds == .min)
        for time in [first, last] { #expect(!time.description.isEmpty) }
    }

    @Test func `Times before 1970 are written, and seconds round down`() {
        #expect(Timestamp(milliseconds: -1).description == "1969-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: -1).seconds == -1)
        #expect(Timestamp(milliseconds: 1999).seconds == 1)
    }

    @Test func `Arithmetic is in milliseconds`() {
        let time = Timestamp(milliseconds: 1000)
        #expect((time + .milliseconds(1500)).milliseconds == 2500)
        #expect((time - .seconds(2)).milliseconds == -1000)
        #expect(time + .seconds(60) - time == .seconds(60))
        #expect(time < time + .milliseconds(1))
    }

    @Test func `Now is now`() {
        #expect(Timestamp.now > Timestamp(milliseconds: 1_700_000_000_000))
        #expect(Timestamp.now < Timestamp(milliseconds: 4_102_444_800_000))
    }

    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (1_709_164_799, "Wed, 28 Feb 2024 23:59:59 GMT"), (1_767_225_600, "Thu, 01 Jan 2026 00:00:00 GMT"),
        ] as [(Int64, String)])
    func `Dates of HTTP are written and read`(_ seconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: seconds * 1000 + 999).httpDate == text)
        #expect(Timestamp(httpDate: text)?.milliseconds == seconds * 1000)
    }

    /// RFC 9110, 5.6.7: recipients must accept the two obsolete forms, too.
    @Test(
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sun Nov 06 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("Friday, 27-Nov-26 10:00:00 GMT", 1_795_773_600), ("Thursday, 27-Nov-75 10:00:00 GMT", 3_342_074_400),
            ("Wednesday, 27-Nov-76 10:00:00 GMT", 3_373_696_800), ("Sunday, 27-Nov-77 10:00:00 GMT", 249_472_800),
        ] as [(String, Int64)])
    func `Obsolete dates of HTTP are read`(_ text: String, _ seconds: Int64) {
        let now = Timestamp(milliseconds: 1_795_773_600_000)
        #expect(Timestamp(httpDate: text, now: now)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 2026 08:49:37 GMT", "Sunday, 6-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06-Nov-+4 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 CET", "Sunday, 06-11-94 08:49:37 GMT",
        "Sun Nov 31 08:49:37 1994", "Sun Nov  6 08:49 1994", "Sun 6 Nov 08:49:37 1994", "Sun Nov  6 08:49:37 94",
    ])
    func `Other texts are not dates of HTTP`(_ text: String) {
        #expect(Timestamp(httpDate: text) == nil)
    }

    @Test func `There are short forms`() {
        let time = Timestamp(milliseconds: 1_795_262_400_123)
        #expect(time.rfc3339Seconds == "2026-11-21T12:00:00Z")
        #expect(time.compact == "20261121120000")
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-21T10:00:00", 1_795_255_200_000),
            ("2026-11-21T10:00:00.5Z", 1_795_255_200_500), ("2026-11-21T10:00:00.1239999", 1_795_255_200_123),
            ("2026-11-21T12:00:00+0200", 1_795_255_200_000), ("2026-11-20T22:30:00-11:30", 1_795_255_200_000),
            ("0001-01-01T00:00:00", -62_135_596_800_000), ("9999-12-31T23:59:59", 253_402_300_799_000),
        ] as [(String, Int64)])
    func `Times of ISO 8601 clients are read`(_ text: String, _ milliseconds: Int64) {
        #expect(Timestamp(iso8601: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "soon", "2026-11-21", "2026-13-21T10:00:00Z", "2026-02-30T10:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T10:60:00Z", "2026-11-21T10:00:00.Z", "2026-11-21T10:00:00ZZ", "2026-11-21T10:00:00+2:00",
        "２026-11-21T10:00:00Z", "2026-11-21 10:00:00Z", "2026-11-21T10:00:00+02", " 2026-11-21T10:00:00Z",
    ])
    func `Other texts are no times`(_ text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test func `Fields of the calendar go there and back`() {
        for day in stride(from: Int64(-719_528), to: 2_932_896, by: 37) {
            let time = Timestamp(milliseconds: day * 86_400_000 + 3_723_004)
            let civil = CivilTime(time)
            #expect((civil.hour, civil.minute, civil.second, civil.millisecond) == (1, 2, 3, 4))
            #expect(Timestamp(civil) == time)
        }
        #expect(Timestamp(CivilTime(year: 2026, month: 2, day: 29)) == nil)
        #expect(Timestamp(CivilTime(year: 10_000, month: 1, day: 1)) == nil)
    }

    @Test(
        arguments: [
            ("120", Duration.seconds(120)), ("0", .zero), ("99999999999999999999", .seconds(86_400)),
            ("Fri, 29 May 2026 20:41:00 GMT", .seconds(460)), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("", nil),
            ("-1", nil), ("1.5", nil), ("+5", nil), ("tomorrow", nil), ("Fri, 29 May 2026 20:41:00 CET", nil),
            ("Fri, 31 Feb 2026 20:41:00 GMT", nil),
        ] as [(String, Duration?)])
    func `Retry-After is read in both forms`(_ text: String, _ wait: Duration?) {
        #expect(Duration(retryAfter: text, now: Timestamp(milliseconds: 1_780_086_800_000)) == wait)
    }
}
