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

    @Test func issuesAreNotedInTheOrderOfTheText() throws {
        let text = #"{"name":7,"x":1,"Tags":["a",2],"NAME":1}"#
        try Array(text.utf8).withUnsafeBufferPointer { bytes in
            var reader = try JSONObjectReader(bytes)
            let known = ["Name", "Tags", "Size", "Kind"]
            let object = reader.object(reader.root, known: known)
            var members = try #require(object)
            var tags: [String] = []
            while let member = reader.next(&members) {
                if member.name == "Name" { _ = reader.string(member.value, at: member.pointer) }
                guard member.name == "Tags", let elements = reader.array(member.value, at: member.pointer) else {
                    continue
                }
                #expect(!elements.isEmpty)
                for (index, element) in elements.enumerated() {
                    if let tag = reader.string(element, at: "\(member.pointer)/\(index)") { tags.append(tag) }
                }
            }
            #expect(members.contains("Tags") && !members.contains("Size"))
            reader.require(["Name", "Size"], in: members)
            #expect(tags == ["a"])
            #expect(reader.issues.map(\.pointer) == ["/Name", "/x", "/Tags/1", "/Name", "/Size"])
            #expect(reader.array(reader.root, at: "") == nil)
            #expect(reader.issues.last?.detail == "The body must be an array, not an object.")
        }
    }

    private enum Size: String, CaseIterable { case small, large }

    @Test func valuesAreReadByTheirKind() throws {
        let text = #"[true, 7, 7.0, 7.5, 70, 1e400, "small", "LARGE", "x", [ ], {"a":[1,{}]}]"#
        try Array(text.utf8).withUnsafeBufferPointer { bytes in
            var reader = try JSONObjectReader(bytes)
            let values = reader.elements(of: reader.root, at: "")
            #expect(reader.boolean(values[0], at: "/0") == true)
            #expect(reader.integer(values[1], at: "/1", in: 1...9) == 7)
            #expect(reader.integer(values[2], at: "/2", in: 1...9) == 7)
            #expect(reader.number(values[3], at: "/3", in: 0...9) == 7.5)
            #expect(reader.choice(values[6], at: "/6", of: Size.self) == .small)
            #expect(reader.choice(values[7], at: "/7", of: Size.self, ignoringCase: true) == .large)
            #expect(reader.array(values[9], at: "/9")?.isEmpty == true)
            #expect(reader.bytes(of: values[10]) == Array(#"{"a":[1,{}]}"#.utf8))
            #expect(reader.text(of: values[4]) == "70" && reader.text(of: values[6]) == "small")
            #expect(reader.issues.isEmpty)
            #expect(reader.integer(values[3], at: "/3", in: 1...9) == nil)
            #expect(reader.integer(values[4], at: "/4", in: 1...9) == nil)
            #expect(reader.number(values[5], at: "/5", in: 1...9) == nil)
            #expect(reader.choice(values[7], at: "/7", of: Size.self) == nil)
            #expect(reader.boolean(values[8], at: "/8") == nil)
            #expect(reader.issues.map(\.pointer) == ["/3", "/4", "/5", "/7", "/8"])
            #expect(reader.issues[0].detail == "The value must be a whole number from 1 to 9.")
            #expect(reader.issues[3].detail == "The value must be one of: small, large.")
        }
    }
}
