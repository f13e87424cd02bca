import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct TemplateRegistrationTests {
    private static func headers(_ prefix: String) -> String {
        "<\(prefix)Headers><\(prefix)Header><Header>h</Header><Value>v</Value></\(prefix)Header></\(prefix)Headers>"
    }

    /// Each platform's elements in an order that no contract has, and in the one that .NET reads.
    private static let orders: [(prefix: String, sent: String, read: [String])] = [
        (
            "Apple",
            "\(headers("Apns"))<Priority>5</Priority><TemplateName>n</TemplateName><Expiry>e</Expiry>"
                + "<BodyTemplate>b</BodyTemplate><DeviceToken>AB</DeviceToken>",
            ["DeviceToken", "BodyTemplate", "Expiry", "TemplateName", "Priority", "ApnsHeaders"]
        ),
        (
            "Windows",
            "<TemplateName>n</TemplateName>\(headers("Wns"))<BodyTemplate>b</BodyTemplate>"
                + "<SecondaryTileName>s</SecondaryTileName><ChannelUri>c</ChannelUri>",
            ["ChannelUri", "SecondaryTileName", "BodyTemplate", "WnsHeaders", "TemplateName"]
        ),
        (
            "Mpns",
            "<TemplateName>n</TemplateName>\(headers("Mpns"))<BodyTemplate>b</BodyTemplate><ChannelUri>c</ChannelUri>",
            ["ChannelUri", "BodyTemplate", "MpnsHeaders", "TemplateName"]
        ),
        (
            "Baidu",
            "<MessageType>1</MessageType><TemplateName>n</TemplateName><BodyTemplate>b</BodyTemplate>"
                + "<BaiduChannelId>c</BaiduChannelId><BaiduUserId>u</BaiduUserId>",
            ["BaiduUserId", "BaiduChannelId", "BodyTemplate", "TemplateName", "MessageType"]
        ),
        (
            "Browser",
            "<TemplateName>n</TemplateName><BodyTemplate>b</BodyTemplate><Auth>a</Auth><P256DH>p</P256DH>"
                + "<Endpoint>e</Endpoint>", ["Endpoint", "P256DH", "Auth", "BodyTemplate", "TemplateName"]
        ),
        (
            "FcmV1",
            "<TemplateName>n</TemplateName><BodyTemplate>b</BodyTemplate><FcmV1RegistrationId>f</FcmV1RegistrationId>",
            ["FcmV1RegistrationId", "BodyTemplate", "TemplateName"]
        ),
    ]

    @Test(arguments: orders.indices) func `Elements come in the order that .NET reads`(_ index: Int) async throws {
        let row = Self.orders[index]
        try await withEmulator { emulator in
            let element = "\(row.prefix)TemplateRegistrationDescription"
            let response = try await emulator.call(
                .post, "/hub/registrations", headers: TestEntry.headers, body: TestEntry.make(element, row.sent))
            #expect(response.status == .ok, "\(response.text)")
            let document = try XMLReader.read(Array(response.text.utf8))
            let description = try #require(document.child("content")?.child(element))
            #expect(description.children.map(\.name) == ["ETag", "ExpirationTime", "RegistrationId"] + row.read)
            #expect(response.text.contains("<BodyTemplate><![CDATA[b]]></BodyTemplate>"))
        }
    }

    @Test(arguments: ["<toast>$(a)</toast>", "a]]>b", "{\"a\":\"$(b)\"}", "line\r\nline", "]]>]]>"])
    func `Templates come back as they were`(_ template: String) async throws {
        try await withEmulator { emulator in
            let sent = XMLWriter.escape(template)
            let entry = TestEntry.make(
                "AppleTemplateRegistrationDescription",
                "<DeviceToken>AB</DeviceToken><BodyTemplate>\(sent)</BodyTemplate>")
            let response = try await emulator.call(
                .post, "/hub/registrations", headers: TestEntry.headers, body: entry)
            let document = try XMLReader.read(Array(response.text.utf8))
            let description = document.child("content")?.child("AppleTemplateRegistrationDescription")
            #expect(description?.child("BodyTemplate")?.text == template)
        }
    }
}
