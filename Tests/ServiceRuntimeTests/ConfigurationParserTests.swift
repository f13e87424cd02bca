import Domain
import Logging
import ServiceRuntime
import Testing

@testable import ServiceConfiguration

@Suite("Parsers of settings")
struct ConfigurationParserTests {
    @Test(arguments: [
        ("true", true), ("YES", true), ("on", true), ("1", true), ("false", false), ("No", false),
        ("off", false), ("0", false),
    ])
    func `A boolean has several spellings`(text: String, value: Bool) throws {
        #expect(try ConfigurationParser<Bool>.boolean.parse(text) == value)
    }

    @Test(arguments: ["maybe", "2", "truee", " true"])
    func `Other booleans are refused`(text: String) {
        #expect(throws: ConfigurationRefusal("is not true or false")) {
            try ConfigurationParser<Bool>.boolean.parse(text)
        }
    }

    @Test(arguments: [("0", 0), ("8080", 8080), ("65535", 65_535)])
    func `A port is a number up to 65535`(text: String, value: Int) throws {
        #expect(try ConfigurationParser<Int>.port.parse(text) == value)
    }

    @Test(arguments: ["65536", "-1", "80a", "8 0", "1e3", "99999999999999999999"])
    func `Other ports are refused`(text: String) {
        #expect(throws: ConfigurationRefusal("is not a whole number from 0 to 65535")) {
            try ConfigurationParser<Int>.port.parse(text)
        }
    }

    @Test(arguments: [
        ("debug", Logger.Level.debug), ("WARN", .warning), ("Warning", .warning), ("critical", .critical),
    ])
    func `A log level is read in any case`(text: String, level: Logger.Level) throws {
        #expect(try ConfigurationParser<Logger.Level>.logLevel.parse(text) == level)
    }

    @Test func `An unknown log level is refused`() {
        let expected = ConfigurationRefusal("is none of: trace, debug, info, notice, warning, error, critical")
        #expect(throws: expected) { try ConfigurationParser<Logger.Level>.logLevel.parse("loud") }
    }

    @Test func `One of several words is read in any case`() throws {
        let parser = ConfigurationParser.oneOf(DatabaseMigrate.self, hint: "MODE")
        #expect(try parser.parse("Check") == .check)
        #expect(throws: ConfigurationRefusal("is none of: auto, check")) { try parser.parse("never") }
    }

    @Test(arguments: [("apple", ["apple"]), ("a,b , c", ["a", "b", "c"])])
    func `A list is separated by commas`(text: String, items: [String]) throws {
        #expect(try ConfigurationParser<[String]>.list.parse(text) == items)
    }

    @Test(arguments: ["a,,b", ",", "a, "])
    func `A list with an empty item is refused`(text: String) {
        #expect(throws: ConfigurationRefusal("has an empty item")) {
            try ConfigurationParser<[String]>.list.parse(text)
        }
    }

    @Test func `Platforms are read by their names`() throws {
        let parser = ConfigurationKeys.hubPlatforms.parser
        #expect(try parser.parse("apple, gcm") == [.apple, .gcm])
        #expect(throws: ConfigurationRefusal.self) { try parser.parse("apple,Wind ows") }
    }

    @Test func `A mapped parser keeps its hint and its refusals`() throws {
        let parser = ConfigurationParser<Int>.port.map { "\($0 + 1)" }
        #expect(try parser.parse("1") == "2")
        #expect(throws: ConfigurationRefusal.self) { try parser.parse("x") }
        #expect(parser.hint == "PORT")
    }
}
