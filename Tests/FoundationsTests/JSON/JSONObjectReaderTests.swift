import Foundations
import Testing

struct JSONObjectReaderTests {
    private typealias Issue = MemberIssues.Issue

    /// What a closure reads of a text, and the issues that are noted.
    private func read<Value>(
        _ text: String, _ body: (inout JSONObjectReader) -> Value
    ) throws -> (value: Value, issues: [Issue]) {
        try Array(text.utf8).withUnsafeBufferPointer { bytes in
            var json = try JSONObjectReader(bytes)
            let value = body(&json)
            return (value, json.issues)
        }
    }

    /// Reads an object with two known members, one of them required, and gives which were there.
    private func read(_ text: String) throws -> (names: [String], pointers: [String]) {
        let result = try read(text) { json in
            json.object { json in
                let any = JSONRule<Bool> { _ in true }
                return [
                    json.required("Name", any).map { _ in "Name" }, json.optional("Tags", any).map { _ in "Tags" },
                ].compactMap(\.self)
            }
        }
        return (result.value ?? [], result.issues.map(\.pointer))
    }

    @Test(arguments: [
        (#"{"Name":1}"#, ["Name"], []), (#"{"NAME":1,"tags":2}"#, ["Name", "Tags"], []),
        (#"{"\u004eame":1}"#, ["Name"], []), (#"{}"#, [], ["/Name"]), (#"[]"#, [], [""]), (#"7"#, [], [""]),
        (#"{"Name":null,"Tags":null}"#, ["Name"], []),
        (#"{"Name":1,"name":2}"#, ["Name"], ["/Name"]),
        (#"{"Name":1,"a/b~":2,"":3}"#, ["Name"], ["/a~1b~0", "/"]),
        // Neither a combining mark nor a letter outside ASCII makes the name the same.
        (#"{"Name":1,"Tag\u017f":2,"Tags\u0301":3}"#, ["Name"], ["/Tag\u{17F}", "/Tags\u{301}"]),
        (#"{"N@me":1,"name\u0000":1}"#, [], ["/Name", "/N@me", "/name\u{0}"]),
    ])
    func `Members are found, and the others are named by pointers`(
        _ text: String, _ names: [String], _ pointers: [String]
    ) throws {
        let found = try read(text)
        #expect(found.names == names)
        #expect(found.pointers == pointers)
    }

    /// An object with more members than are listed is looked through in the text.
    @Test(arguments: [0, 63, 64, 65, 500]) func `Many members are read`(_ count: Int) throws {
        let others = (0..<count).map { #""m\#($0)":[{"Name":7},","]"# }
        let text =
            "{" + (others + [#" "Tags" : ["x"] "#, #""N\u0061me":1"#, #""NAME":2"#]).joined(separator: ",") + "}"
        let found = try read(text)
        #expect(found.names == ["Name", "Tags"])
        #expect(found.pointers == ["/Name"] + (0..<count).prefix(99).map { "/m\($0)" })
        #expect(try read("{\(others.joined(separator: ","))}").pointers.first == "/Name")
    }

    @Test func `Members that are there are found`() throws {
        let text = #"{"a":1,"B":null}"#
        let found = try read(text) { json in
            json.object { json in
                json.ignore("a", "b")
                return [
                    json.contains("A"), json.contains("b"), json.contains("b", isNull: false), json.contains("c"),
                ]
            }
        }
        #expect(found.value == [true, true, false, false])
        #expect(found.issues.isEmpty)
    }

    @Test func `Free names are compared byte for byte`() throws {
        let text = "{\"x\":{\"a\":1,\"A\":2,\"e\u{301}\":3,\"\u{E9}\":4,\"a\":5}}"
        let found = try read(text) { json in
            json.object { json in
                var names: [[UInt8]] = []
                let rule = JSONRule<Bool> { json in
                    json.freeMembers { name, json in
                        names.append(Array(name.utf8))
                        #expect(json.value.kind == .number)
                    }
                    return true
                }
                _ = json.required("x", rule)
                return names
            }
        }
        #expect(found.value == ["a", "A", "e\u{301}", "\u{E9}"].map { Array($0.utf8) })
        #expect(found.issues == [Issue(pointer: "/x/a", detail: "The member is repeated.")])
    }

    @Test func `Values of another kind are noted`() throws {
        let found = try read(#"{"Name":[1,"x"],"Tags":"y","More":{"a/":0}}"#) { json in
            json.object { json in
                let texts = json.required("Name", .list(of: .text, 0...9) { "\($0)" })
                #expect(texts == ["x"])
                #expect(json.optional("Tags", .list(of: .text, 0...9) { "\($0)" }) == nil)
                let inner = JSONRule<Bool> { json in
                    json.freeMembers { _, json in _ = json.read(.boolean) }
                    return nil
                }
                return json.required("More", inner)
            }
        }
        #expect(
            found.issues == [
                Issue(pointer: "/Name/0", detail: "The value must be a string, not a number."),
                Issue(pointer: "/Tags", detail: "The value must be an array, not a string."),
                Issue(pointer: "/More/a~1", detail: "The value must be a boolean, not a number."),
            ])
        let body = try read("[]") { $0.object { _ in 1 } }
        #expect(body.issues == [Issue(pointer: "", detail: "The body must be an object, not an array.")])
    }

    @Test(arguments: ["", "{", #"{"Name":}"#, "{} {}", "\u{1}"])
    func `What is not JSON is thrown`(_ text: String) {
        #expect(throws: JSONSyntaxError.self) { try read(text) }
    }

    @Test func `Issues are in the order of the rules`() throws {
        let text = #"{"x":1,"Kind":{"y":1},"Tags":["a",2],"NAME":1,"name":7}"#
        let found = try read(text) { json in
            json.object { json in
                _ = json.required("Name", .text)
                let tags = json.optional("Tags", .list(of: .text, 1...9) { "\($0)" })
                #expect(json.required("Kind", .object { $0.required("z", .text) }) == nil)
                _ = json.required("Size", .text)
                return tags
            }
        }
        #expect(found.value == ["a"])
        #expect(found.issues.map(\.pointer) == ["/Name", "/Name", "/Tags/1", "/Kind/z", "/Kind/y", "/Size", "/x"])
    }

    private enum Size: String, CaseIterable { case small, large }

    private func issue<Value: Equatable>(_ text: String, _ rule: JSONRule<Value>, _ value: Value?) throws -> String? {
        let found = try read(text) { $0.read(rule) }
        #expect(found.value == value)
        return found.issues.first?.detail
    }

    @Test func `Rules name their issues`() throws {
        #expect(try issue("true", .boolean, true) == nil)
        #expect(try issue("false", .boolean, false) == nil)
        #expect(try issue("7", .integer(1...9), 7) == nil)
        #expect(try issue("7.0", .integer(1...9), 7) == nil)
        #expect(try issue("7e0", .integer(1...9), 7) == nil)
        #expect(try issue("7.5", .number(0...9), 7.5) == nil)
        #expect(try issue(#""small""#, .choice, Size.small) == nil)
        #expect(try issue(#""LARGE""#, .choiceIgnoringCase, Size.large) == nil)
        #expect(try issue("[]", .list(of: .text, 0...1) { "\($0)" }, []) == nil)
        #expect(try issue(#""x""#, .text { _ in nil }, "x") == nil)
        let whole = "The value must be a whole number from 1 to 9."
        #expect(try issue("7.5", .integer(1...9), nil) == whole)
        #expect(try issue("70", .integer(1...9), nil) == whole)
        #expect(try issue("1e400", .number(1...9), nil) == "The value must be a number from 1.0 to 9.0.")
        #expect(try issue(#""LARGE""#, .choice, nil as Size?) == "The value must be one of: small, large.")
        #expect(try issue(#""x""#, .boolean, nil) == "The body must be a boolean, not a string.")
        #expect(try issue("[1,2]", .list(of: .text, 0...1) { "not \($0)" }, nil) == "not 2")
        #expect(try issue(#""x""#, .text { "\($0) is wrong" }, nil) == "x is wrong")
        #expect(try issue(#""x""#, .string("a number") { Int($0) }, nil) == "a number")
    }

    @Test func `Parts of the text stay as they are`() throws {
        let found = try read(#"{"l":[{"p": {"a":[1,{}]} }, {"p":"\u0041","p":1}, {"P":1}, 7]}"#) { json in
            let list = json.member("l", of: json.value)
            #expect(json.member("L", of: json.value) == nil && json.elements(of: json.value) == nil)
            return list.flatMap { json.elements(of: $0) }?.map { entry in
                json.member("p", of: entry).map { json.text(of: $0) }
            }
        }
        #expect(found.value == [#"{"a":[1,{}]}"#, "A", nil, nil])
        #expect(found.issues.isEmpty)
    }
}
