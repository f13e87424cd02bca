import SecurePushCore
import Testing

@Suite struct JSONObjectReaderTests {
    /// Reads a text with two known members, one of them required, and gives what was found and noted.
    private func read(_ text: String) throws -> (names: [String], pointers: [String]) {
        try Array(text.utf8).withUnsafeBufferPointer { bytes in
            var reader = try JSONObjectReader(bytes)
            let members = reader.members(of: reader.root, known: ["Name", "Tags"], required: ["Name"])
            return (members.map(\.name), reader.issues.map(\.pointer))
        }
    }

    @Test(arguments: [
        (#"{"Name":1}"#, ["Name"], []), (#"{"NAME":1,"tags":2}"#, ["Name", "Tags"], []),
        (#"{"\u004eame":1}"#, ["Name"], []), (#"{}"#, [], ["/Name"]), (#"[]"#, [], [""]), (#"7"#, [], [""]),
        (#"{"Name":1,"name":2}"#, ["Name"], ["/Name"]),
        (#"{"Name":1,"a/b~":2,"":3}"#, ["Name"], ["/a~1b~0", "/"]),
        // Neither a combining mark nor a letter outside ASCII makes the name the same.
        (#"{"Name":1,"Tag\u017f":2,"Tags\u0301":3}"#, ["Name"], ["/Tag\u{17F}", "/Tags\u{301}"]),
    ])
    func members(_ text: String, _ names: [String], _ pointers: [String]) throws {
        let found = try read(text)
        #expect(found.names == names)
        #expect(found.pointers == pointers)
    }

    @Test func freeNamesAreComparedByteForByte() throws {
        let text = "{\"a\":1,\"A\":2,\"e\u{301}\":3,\"\u{E9}\":4,\"a\":5}"
        try Array(text.utf8).withUnsafeBufferPointer { bytes in
            var reader = try JSONObjectReader(bytes)
            let members = reader.freeMembers(of: reader.root, at: "/x")
            #expect(members.map { Array($0.name.utf8) } == ["a", "A", "e\u{301}", "\u{E9}"].map { Array($0.utf8) })
            #expect(reader.issues == [.init(pointer: "/x/a", detail: "The member is repeated.")])
        }
    }

    @Test func valuesOfAnotherKindAreNoted() throws {
        try Array(#"{"Name":[1,"x"],"Tags":"y"}"#.utf8).withUnsafeBufferPointer { bytes in
            var reader = try JSONObjectReader(bytes)
            let members = reader.members(of: reader.root, known: ["Name", "Tags"])
            let elements = reader.elements(of: members[0].value, at: "/Name")
            #expect(elements.count == 2)
            #expect(reader.string(elements[0], at: "/Name/0") == nil)
            #expect(reader.string(elements[1], at: "/Name/1") == "x")
            #expect(reader.elements(of: members[1].value, at: "/Tags").isEmpty)
            #expect(reader.freeMembers(of: members[1].value, at: "/Tags").isEmpty)
            #expect(
                reader.issues == [
                    .init(pointer: "/Name/0", detail: "The value must be a string, not a number."),
                    .init(pointer: "/Tags", detail: "The value must be an array, not a string."),
                    .init(pointer: "/Tags", detail: "The value must be an object, not a string."),
                ])
        }
    }

    @Test(arguments: ["", "{", #"{"Name":}"#, "{} {}", "\u{1}"])
    func whatIsNotJSONIsThrown(_ text: String) {
        #expect(throws: JSONSyntaxError.self) { try read(text) }
    }
}
