import Testing

@testable import Hub

@Suite struct XMLReaderTests {
    private func read(_ text: String) throws -> XMLElement { try XMLReader.read(Array(text.utf8)) }

    @Test func `Elements, attributes and text`() throws {
        let root = try read("\u{FEFF}<?xml version='1.0'?><!-- x --><a p=\"1\" q = '2'> x<b/>y<c>z</c></a>\n")
        #expect(root.name == "a")
        #expect(root.attributes.map(\.value) == ["1", "2"])
        #expect(root.text == " xy")
        #expect(root.children.map(\.name) == ["b", "c"])
        #expect(root.child("c")?.text == "z")
    }

    @Test func `Namespaces are resolved`() throws {
        let root = try read(
            "<p:a xmlns:p=\"u:1\" xmlns=\"u:2\" p:x='1' y='2'><b/><p:c xmlns:p=\"u:3\"/><d xmlns=''/></p:a>")
        #expect(root.namespace == "u:1")
        #expect(root.attributes.map(\.namespace) == ["u:1", ""])
        #expect(root.children.map(\.namespace) == ["u:2", "u:3", ""])
    }

    @Test(
        arguments: [
            ("<a>&lt;&gt;&amp;&quot;&apos;</a>", "<>&\"'"), ("<a>&#65;&#x42;&#x1F600;</a>", "AB\u{1F600}"),
            ("<a><![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>", "<b>&amp;]]>"), ("<a>x<!-- - -->y<?p q?>z</a>", "xyz"),
            ("<a>1\r\n2\r3</a>", "1\n2\n3"), ("<a></a>", ""), ("<a>größe</a>", "größe"),
        ] as [(String, String)])
    func `Text is decoded`(_ document: String, _ text: String) throws {
        #expect(try read(document).text == text)
    }

    /// A combining accent after a `>` and U+0600 before a `<` make them other characters, but not other bytes.
    @Test(arguments: ["a<b>&\"'", "]]>", "]]>\u{301}x", "\u{600}]]>\u{301}</a>\u{600}<b>", "a\rb]]>"])
    func `Written text is read back`(_ text: String) throws {
        for written in [XMLWriter.characterData(text), XMLWriter.escape(text)] {
            let root = try read("<a>\(written)</a>")
            #expect(root.text.unicodeScalars.elementsEqual(text.unicodeScalars), "\(written)")
            #expect(root.children.isEmpty)
        }
    }

    @Test(arguments: [
        "", "x", "<a>", "<a></b>", "<a/><b/>", "<a", "<a b></a>", "<a b=1/>", "<a b='1' b='2'/>", "<a b='1'c='2'/>",
        "<a>&nbsp;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#99999999;</a>", "<a>&amp</a>", "<a>&</a>",
        "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
        "<a><![CDATA[</a>", "<a><!-- </a>", "<p:a/>", "<a p:b='1'/>", "<a:b:c/>", "<:a/>", "<1a/>", "<a b='<'/>",
        "<a>\u{1}</a>", "<a>&#+65;</a>",
    ])
    func `Other things are refused`(_ document: String) {
        #expect(throws: XMLReaderError.self) { try read(document) }
    }

    @Test func `Bytes that are not UTF-8 are refused`() {
        #expect(throws: XMLReaderError.self) { try XMLReader.read([0x3C, 0x61, 0xFF, 0x3E]) }
        #expect(throws: XMLReaderError.self) { try XMLReader.read([0xFF, 0xFE, 0x3C, 0x00]) }
    }

    @Test func `Depth is bounded`() {
        let depth = 100_000
        let document = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        #expect(throws: XMLReaderError.self) { try read(document) }
    }

    @Test func `No input crashes`() {
        let pieces = ["CDATA", "ü"] + "<>/a='\"&;#x![]-? :".map(String.init)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...30)).map { _ in pieces.randomElement() ?? "" }.joined()
            _ = try? read("<a>" + text)
            _ = try? read(text)
        }
    }

    @Test func `What is written reads back the same`() throws {
        let root = try read(
            "<a xmlns='u:1' xmlns:i='\(XMLNamespace.instance)' x='&quot;&lt;'>t&amp;t"
                + "<b i:nil='true'/><c xmlns='u:2'>]]&gt;</c></a>")
        var output = ""
        XMLWriter.write(root, parentNamespace: "", to: &output)
        let again = try read(output.replacing("<a ", with: "<a xmlns:i=\"\(XMLNamespace.instance)\" "))
        #expect(again == root)
    }
}
