import Domain
import Foundations
import Testing

@testable import NotificationHubs

@Suite struct RegistrationXMLTests {
    @Test(arguments: [
        (RegistrationPlatform.apns, "AppleRegistrationDescription", "DeviceToken"),
        (.fcmv1, "FcmV1RegistrationDescription", "FcmV1RegistrationId"),
        (.gcm, "GcmRegistrationDescription", "GcmRegistrationId"),
        (.wns, "WindowsRegistrationDescription", "ChannelUri"),
    ])
    func `An entry has the form of its platform`(
        _ platform: RegistrationPlatform, _ description: String, _ field: String
    ) throws {
        let xml = try RegistrationDocument.entry(
            platform: platform, handle: "https://wns/?a=1&b=<2>", tags: ["username:alice", "team:a"])
        #expect(
            xml == """
                <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><\(description) \
                xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
                xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
                <Tags>username:alice,team:a</Tags><\(field)>https://wns/?a=1&amp;b=&lt;2&gt;</\(field)>\
                </\(description)></content></entry>
                """)
    }

    @Test func `No tags no element`() throws {
        let xml = try RegistrationDocument.entry(platform: .apns, handle: "AB", tags: [])
        #expect(!xml.contains("Tags"))
    }

    @Test(arguments: [["a,username:victim"], [""], ["ok", "a\u{0}"]])
    func `Tags that would become others are refused`(_ tags: [String]) {
        let error = #expect(throws: PushGatewayError.self) {
            try RegistrationDocument.entry(platform: .apns, handle: "AB", tags: tags)
        }
        #expect(error?.code == .rejected)
    }

    @Test(
        arguments: [
            ("<feed></feed>", []),
            (
                "<feed><entry><RegistrationId>1-2-3</RegistrationId></entry>"
                    + "<RegistrationId>a&amp;b&#x41;&#66;</RegistrationId></feed>\n", ["1-2-3", "a&bAB"]
            ),
            ("<feed><![CDATA[<RegistrationId>evil</RegistrationId>]]><!-- <RegistrationId>x --></feed>", []),
            ("<feed xmlns=\"http://www.w3.org/2005/Atom\"/>", []),
            ("<feed><RegistrationId>1</RegistrationId>", nil), ("<feed><RegistrationId>1</feed>", nil),
            ("<feed><RegistrationId></RegistrationId></feed>", nil),
            ("<feed><RegistrationId>&x;</RegistrationId></feed>", nil),
            ("<feed><![CDATA[</feed>", nil), ("", nil), ("<html>", nil),
        ] as [(String, [String]?)])
    func `The IDs of a feed are read`(_ xml: String, _ ids: [String]?) {
        #expect(RegistrationFeed.registrations(xml)?.map(\.id) == ids)
    }

    @Test(
        arguments: [
            ("news", nil), ("$InstallationId:{abc-1}", "abc-1"), ("news, $installationid:{A=b},username:a", "A=b"),
            ("$InstallationId:{}", nil), ("$InstallationId:{a", nil), ("x$InstallationId:{a}", nil),
            ("$UserId:{a}", nil),
        ] as [(String, String?)])
    func `The installation behind a registration is found in its tags`(_ tags: String, _ id: String?) {
        let entry = { (id: String, tags: String) in
            "<entry><A><RegistrationId>\(id)</RegistrationId>\(tags)<DeviceToken>AB</DeviceToken></A></entry>"
        }
        let xml = "<feed>" + entry("1", "<Tags>\(tags)</Tags>") + entry("2", "") + "</feed>"
        let expected = [HubRegistration(id: "1", installationID: id), HubRegistration(id: "2")]
        #expect(RegistrationFeed.registrations(xml) == expected)
    }

    @Test(arguments: [("a&b", "a&amp;b"), ("<>\"'", "&lt;&gt;&quot;&apos;"), ("é\n", "é&#10;")])
    func `Text goes there and back`(_ text: String, _ xml: String) {
        #expect(XMLText.encode(text) == xml)
        #expect(XMLText.decode(xml) == text)
    }

    @Test(arguments: [
        ("MzEobik7Mg%3D%3D", true), ("MzEobik7Mg==", false), ("plain", false),
        ("a%2", false), ("a%zz", false),
    ])
    func `Only tokens in the encoded alphabet count as encoded`(_ token: String, _ isEncoded: Bool) {
        #expect(PercentCoding.isEncoded(token) == isEncoded)
    }
}
