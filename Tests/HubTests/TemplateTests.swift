import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct TemplateTests {
    static func registration(
        _ format: NotificationFormat, _ template: String, more: [XMLElement] = []
    ) -> RegistrationEntry {
        let body = XMLElement("BodyTemplate", namespace: XMLNamespace.connect, text: template)
        return RegistrationEntry(
            id: "1", format: format, isTemplate: true, tags: [], handle: "h", fields: [body] + more, updatedAt: .now)
    }

    static func render(
        _ format: NotificationFormat, _ template: String, _ message: String
    ) throws -> String {
        let properties = try TemplateProperties(message: Array(message.utf8))
        return TemplateRenderer(registration(format, template), properties).body
    }

    private static let message =
        #"{"title":"This is the title line","Name":"Ann \"A\" <b>","n":"40","empty":"","uri":"a b/ü"}"#

    @Test(
        arguments: [
            ("$(TITLE)", "This is the title line"), ("$(title, 4)", "This"), ("$(title,400)", "This is the title line"),
            (".(title, 20)", "This is the title..."), (".(title, 2)", ".."), (".(n, 20)", "40"),
            ("%(uri)", "a%20b%2F%C3%BC"), ("[$(none)]", "[]"), ("a $(n) b #(n) c", "a 40 b 40 c"),
            ("{'Hi, ' + $(n)}", "Hi, 40"), ("{ $(n)+\" - \"+.(title, 7) }", "40 - This..."), ("x{$(n)}y", "x40y"),
            ("{n}", "{n}"), ("$n $(", "$n $("), ("$(a b)", "$(a b)"), ("{'a' + }", "{'a' + }"),
            ("$bodyguard", "$bodyguard"),
            (".(title)", ".(title)"), ("#(title, 4)", "#(title, 4)"), ("{'open", "{'open"),
        ] as [(String, String)])
    func `The language`(_ template: String, _ expected: String) throws {
        #expect(try Self.render(.windows, template, Self.message) == expected)
    }

    @Test(
        arguments: [
            (#"{"aps":{"alert":"$(name)"}}"#, #"{"aps":{"alert":"Ann \"A\" <b>"}}"#),
            (##"{"aps":{"badge":"#(n)"}}"##, #"{"aps":{"badge":40}}"#),
            (##"{"aps":{"badge":"#(title)"}}"##, #"{"aps":{"badge":"This is the title line"}}"#),
            (##"{"badge":#(n)}"##, #"{"badge":40}"#), (#"{"a":"{'x' + $(n)}"}"#, #"{"a":"x40"}"#),
            (#"{"a":"{\"x\" + $(n)}"}"#, #"{"a":"x40"}"#), (#"{"$(n)":"$(n)"}"#, #"{"$(n)":"40"}"#),
            (#"{"a":{"b":["$(n)",1]}}"#, #"{"a":{"b":["40",1]}}"#), (#"{"a":"open"#, #"{"a":"open"#),
        ] as [(String, String)])
    func `JSON templates escape and keep numbers`(_ template: String, _ expected: String) throws {
        #expect(try Self.render(.apple, template, Self.message) == expected)
    }

    /// To Swift a quote, a brace or a colon is another character with a combining mark after it; to JSON it is not.
    @Test(
        arguments: [
            (#"{"aps":{"alert":"$(m)"}}"#, "{\"aps\":{\"alert\":\"\u{301}x\"}}"),
            ("{\"a\":\"\u{301}$(n)\",\"b\":\"{'\u{302}' + $(n)}\"}", "{\"a\":\"\u{301}40\",\"b\":\"\u{302}40\"}"),
            ("{\"\u{301}\":\"\u{302}\"}", "{\"\u{301}\":\"\u{302}\"}"),
            (##"{"a":"#(j)"}"##, "{\"a\":\"\u{200D}\"}"), ("{\"a\":\"\\n\u{301}$(n)\"}", "{\"a\":\"\\n\u{301}40\"}"),
            ("{\"a\":\"#(\u{345}k)\"}", #"{"a":7}"#),
        ] as [(String, String)])
    func `Text is never changed`(_ template: String, _ expected: String) throws {
        let message = "{\"m\":\"\u{301}x\",\"n\":\"40\",\"j\":\"\u{200D}\",\"\u{345}k\":\"7\"}"
        let rendered = try Self.render(.apple, template, message)
        #expect(Array(rendered.utf8) == Array(expected.utf8), "\(rendered)")
    }

    @Test func `A combining mark after the first bracket leaves a template XML`() throws {
        let text = try Self.render(.windows, "<\u{301}a>$(m)</a>", #"{"m":"<"}"#)
        #expect(Array(text.utf8) == Array("<\u{301}a>&lt;</a>".utf8))
    }

    @Test func `XML templates escape`() throws {
        let text = try Self.render(
            .windows, "<toast><text id=\"$(n)\">$(name) &amp; {'<' + $(n)}</text></toast>", Self.message)
        #expect(text == "<toast><text id=\"40\">Ann &quot;A&quot; &lt;b&gt; &amp; <40</text></toast>")
    }

    @Test func `The whole message is body`() throws {
        #expect(try Self.render(.windows, "$body", #"{"a":"b"}"#) == #"{"a":"b"}"#)
        #expect(try Self.render(.apple, #"{"x":"$body"}"#, #"{"a":"b"}"#) == #"{"x":"{\"a\":\"b\"}"}"#)
    }

    @Test(arguments: ["0", "-1", "40", "1.5", "2e10", "1E+3"]) func `Numbers are numbers`(_ text: String) {
        #expect(TemplateString.isNumber(text))
    }

    @Test(arguments: ["", "-", "01", "-01", "1.", ".5", "1e", "0x1", "1 ", "NaN"]) func `Others are not`(_ text: String)
    {
        #expect(!TemplateString.isNumber(text))
    }

    @Test func `Push variables stand behind properties`() throws {
        let variables = XMLElement(
            "PushVariables", namespace: XMLNamespace.connect, text: #"{"city":"Seattle","n":"7"}"#)
        let properties = try TemplateProperties(message: Array(Self.message.utf8))
        let registration = Self.registration(.windows, "$(city) $(n)", more: [variables])
        #expect(TemplateRenderer(registration, properties).body == "Seattle 40")
    }

    @Test func `Templates bring their headers`() throws {
        func text(_ name: String, _ text: String) -> XMLElement {
            XMLElement(name, namespace: XMLNamespace.connect, text: text)
        }
        let header = XMLElement(
            "WnsHeader", namespace: XMLNamespace.connect,
            children: [text("Header", "X-WNS-Type"), text("Value", "wns/$(kind)")])
        let headers = XMLElement("WnsHeaders", namespace: XMLNamespace.connect, children: [header])
        let properties = try TemplateProperties(message: Array(#"{"kind":"toast"}"#.utf8))
        let windows = Self.registration(.windows, "<a/>", more: [headers])
        #expect(TemplateRenderer(windows, properties).headers == ["X-WNS-Type": "wns/toast"])
        let apple = Self.registration(.apple, "{}", more: [text("Expiry", "0"), text("Priority", "5")])
        #expect(
            TemplateRenderer(apple, properties).headers == ["apns-expiration": "0", "apns-priority": "5"])
    }

    @Test(arguments: ["", "[]", "7", #"{"a":1}"#, #"{"a":{}}"#, "nonsense"])
    func `Only strings are properties`(_ body: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.send(body, format: "template")
            #expect(response.status == .badRequest)
        }
    }

    @Test func `Templates that make different pushes are notifications of their own, and the same push is one`()
        async throws
    {
        try await withEmulator { emulator in
            for (element, field, handle, template) in [
                ("AppleTemplateRegistrationDescription", "DeviceToken", "AA", #"{"m":"$(m)"}"#),
                ("AppleTemplateRegistrationDescription", "DeviceToken", "AA", #"{"m":"$(m)"}"#),
                ("AppleTemplateRegistrationDescription", "DeviceToken", "AA", #"{"other":"$(m)"}"#),
                ("FcmV1TemplateRegistrationDescription", "FcmV1RegistrationId", "f", #"{"m":"$(m)"}"#),
            ] {
                let inner = "<Tags>t</Tags><\(field)>\(handle)</\(field)><BodyTemplate>\(template)</BodyTemplate>"
                _ = try await emulator.call(
                    .post, "/hub/registrations", headers: TestEntry.headers, body: TestEntry.make(element, inner))
            }
            #expect(try await emulator.send(#"{"m":"hello"}"#, format: "template", tags: "t").status == .created)
            let record = try #require(try await emulator.records("?Limit=1").first)
            #expect((record["Deliveries"] as? [String])?.sorted() == ["AA", "AA", "f"])
            let devices = emulator.state.devices.all
            #expect(devices.count == 2)
        }
    }
}
