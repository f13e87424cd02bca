import HTTPTypes
import Testing

@testable import Hub

@Suite struct TagExpressionTests {
    @Test(arguments: [nil, "", "  "] as [String?])
    func `Absent means everyone`(_ header: String?) throws {
        #expect(try TagExpression.parse(header) == nil)
    }

    @Test(
        arguments: [
            ("a", "a"), ("A", "a"), (" a ", "a"), ("username:alice@example.com", "username:alice@example.com"),
            ("$InstallationId:{ab-1=}", "$installationid:{ab-1=}"), ("#_@.:-", "#_@.:-"), ("größe", "größe"),
        ] as [(String, String)])
    func `Single tags`(_ header: String, _ tag: String) throws {
        #expect(try TagExpression.parse(header) == .tag(tag))
    }

    @Test(
        arguments: [
            ("a || b && c", ["a"], true), ("a || b && c", ["b"], false), ("(a || b) && c", ["a"], false),
            ("(a||b)&&c", ["b", "c"], true), ("!a && b", ["b"], true), ("!a && b", ["a", "b"], false),
            ("!(a && b)", ["a"], true), ("!a || b", ["a", "b"], true), ("!!a", ["a"], true),
            ("a && !$UserId:{bob}", ["a"], true), ("a && !$UserId:{bob}", ["a", "$userid:{bob}"], false),
            ("a&&b||c&&d", ["c", "d"], true), ("a&&b||c&&d", ["a", "d"], false),
        ] as [(String, Set<String>, Bool)])
    func `Binds not then and then or`(_ text: String, _ tags: Set<String>, _ expected: Bool) throws {
        #expect(try TagExpression.parse(text)?.matches(tags) == expected)
    }

    @Test(arguments: [
        "a b", "a |", "a ||", "|| a", "a & b", "a && ", "(a", "a)", "()", "!", "a!b", "a,b", "a||(b&&)", "$", "$x:{a}",
        "$UserId:{}", "$UserId:{a", "a;b", "a/b", "\"a\"",
    ])
    func `Syntax errors are 400`(_ text: String) {
        let error = #expect(throws: HubError.self) { try TagExpression.parse(text) }
        #expect(error?.status == .badRequest)
    }

    @Test func `Twenty tags of or are the limit`() throws {
        let tags = (1...21).map { "t\($0)" }
        _ = try TagExpression.parse(tags.prefix(20).joined(separator: "||"))
        _ = try TagExpression.parse("(" + tags.prefix(20).joined(separator: " || ") + ")")
        #expect(throws: HubError.self) { try TagExpression.parse(tags.joined(separator: "||")) }
    }

    @Test(arguments: ["&&", "||!"]) func `Six tags are the limit otherwise`(_ joint: String) throws {
        let tags = (1...7).map { "t\($0)" }
        _ = try TagExpression.parse(tags.prefix(6).joined(separator: joint))
        #expect(throws: HubError.self) { try TagExpression.parse(tags.joined(separator: joint)) }
    }

    @Test func `Tags have 120 characters`() throws {
        _ = try TagExpression.parse(String(repeating: "a", count: 120))
        _ = try TagExpression.parse(String(repeating: "ü", count: 120))
        #expect(throws: HubError.self) { try TagExpression.parse(String(repeating: "a", count: 121)) }
    }

    @Test func `Deep nesting is refused and not followed`() {
        for text in [String(repeating: "(", count: 4000) + "a", String(repeating: "!", count: 4000) + "a"] {
            #expect(throws: HubError.self) { try TagExpression.parse(text) }
        }
        #expect(throws: HubError.self) { try TagExpression.parse(String(repeating: "a||", count: 100_000) + "a") }
    }

    @Test func `No input crashes and what is read is within the limits`() {
        let alphabet = Array("ab1!&|()$ {}:=#ü\u{0}\u{1F600}%,")
        for _ in 0..<20_000 {
            let text = String((0..<Int.random(in: 0...24)).map { _ in alphabet.randomElement() ?? "a" })
            guard let expression = try? TagExpression.parse(text) else { continue }
            _ = expression.matches(["a", "b"])
        }
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...200)).map { _ in UInt8.random(in: 0...255) }
            _ = try? TagExpression.parse(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test func `Registration tags are split, trimmed and counted`() throws {
        #expect(try TagSyntax.list(" a, B ,b,,c") == ["a", "B", "c"])
        #expect(try TagSyntax.list("") == [])
        // A comma with a combining letter after it is a comma.
        #expect(try TagSyntax.list("a,\u{345}b") == ["a", "\u{345}b"])
        let many = (1...61).map { "t\($0)" }
        #expect(try TagSyntax.list(many.prefix(60).joined(separator: ",")).count == 60)
        #expect(throws: HubError.self) { try TagSyntax.list(many.joined(separator: ",")) }
        #expect(throws: HubError.self) { try TagSyntax.list("a b") }
    }
}
