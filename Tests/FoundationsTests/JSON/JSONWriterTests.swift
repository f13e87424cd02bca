import Foundations
import Testing

struct JSONWriterTests {
    @Test func `Commas are written where they are needed`() {
        var writer = JSONWriter()
        writer.object { json in
            json.member("text", "a\"b")
            json.member("number", -7)
            json.member("large", UInt64.max)
            json.member("true", true)
            json.member("list", ["x", "y,"])
            json.member("none", [])
            json.member("json", json: "[1, 2]".utf8)
            json.object("object") { $0.member("é", "{") }
            json.array("array") { array in
                array.string("[")
                array.string(":")
                array.number(1)
                array.boolean(false)
                array.null()
                array.json("{}")
                array.object { _ in }
                array.array { $0.number(2) }
            }
            json.member("last")
            json.string("z")
        }
        let expected =
            #"{"text":"a\"b","number":-7,"large":18446744073709551615,"true":true,"list":["x","y,"],"none":[],"#
            + #""json":[1, 2],"object":{"é":"{"},"array":["[",":",1,false,null,{},{},[2]],"last":"z"}"#
        #expect(writer.text == expected)
        #expect(JSONValue(text: expected) != nil)
    }

    @Test func `Brackets and raw text can be written by hand`() {
        var writer = JSONWriter(capacity: 16)
        writer.open("[")
        for number in 1...2 {
            writer.open("{")
            writer.member("n")
            writer.number(number)
            writer.close("}")
        }
        writer.close("]")
        writer.raw("\n")
        #expect(writer.bytes == Array("[{\"n\":1},{\"n\":2}]\n".utf8))
    }

    @Test func `Every character is read again`() throws {
        for scalar in 0..<0x250 {
            guard let scalar = Unicode.Scalar(scalar) else { continue }
            let text = "x\(scalar)\(scalar)y"
            let quoted = JSONText.quoted(text)
            #expect(JSONValue(text: quoted)?.text.map { Array($0.utf8) } == Array(text.utf8))
            #expect(quoted.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
        }
        #expect(JSONText.quoted("\u{8}\t\n\u{C}\r\u{1}\u{7F}\"\\/") == #""\b\t\n\f\r\u0001\u007f\"\\/""#)
    }
}
