import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct SendTargetTests {
    private func deliveries(
        tags: String?, format: String = "apple", uri: String = "/hub/messages", _ emulator: Emulator
    ) async throws -> [String] {
        let body = format == "template" ? "{}" : #"{"aps":{}}"#
        _ = try await emulator.send(body, format: format, tags: tags, uri: uri)
        return try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] ?? []
    }

    @Test(
        arguments: [
            (nil, ["A1", "A2", "A3"]), ("", ["A1", "A2", "A3"]), ("username:ALICE", ["A1", "A2"]),
            ("username:bob", ["A3"]), ("nobody", []), ("username:bob||vip", ["A2", "A3"]),
            ("username:alice && !vip", ["A1"]), ("!vip", ["A1", "A3"]),
            ("(vip || username:bob) && !username:bob", ["A2"]),
        ] as [(String?, [String])])
    func `Tags choose`(_ tags: String?, _ expected: [String]) async throws {
        try await withEmulator { emulator in
            try await emulator.register("a1", tags: "username:alice")
            try await emulator.register("a2", tags: "Username:Alice, VIP")
            try await emulator.register("a3", tags: "username:bob")
            try await emulator.register(
                "f1", tags: "username:alice", element: "FcmV1RegistrationDescription", field: "FcmV1RegistrationId")
            try await emulator.register("a9", tags: "username:alice", hub: "otherhub")
            #expect(try await deliveries(tags: tags, emulator) == expected)
        }
    }

    @Test func `Each format reaches its own platform only`() async throws {
        try await withEmulator { emulator in
            try await emulator.register(
                "g1", tags: "t", element: "GcmRegistrationDescription", field: "GcmRegistrationId")
            try await emulator.register(
                "f1", tags: "t", element: "FcmV1RegistrationDescription", field: "FcmV1RegistrationId")
            try await emulator.register(
                "https://wns.test/?t=1", tags: "t", element: "WindowsRegistrationDescription", field: "ChannelUri")
            #expect(try await deliveries(tags: "t", format: "gcm", emulator) == ["g1"])
            #expect(try await deliveries(tags: "t", format: "fcmv1", emulator) == ["f1"])
            #expect(try await deliveries(tags: "t", format: "windows", emulator) == ["https://wns.test/?t=1"])
            #expect(try await deliveries(tags: "t", format: "template", emulator) == [])
        }
    }

    @Test func `Templates are reached by template sends and rendered`() async throws {
        try await withEmulator { emulator in
            let entry = TestEntry.make(
                "AppleTemplateRegistrationDescription",
                "<Tags>t</Tags><DeviceToken>AA</DeviceToken>"
                    + "<BodyTemplate><![CDATA[{\"aps\":{},\"id\":\"$(Id)\"}]]></BodyTemplate>")
            _ = try await emulator.call(.post, "/hub/registrations", headers: TestEntry.headers, body: entry)
            #expect(try await deliveries(tags: "t", emulator) == [])
            _ = try await emulator.send(#"{"id":"7"}"#, format: "template", tags: "t")
            let devices = try await emulator.call(.get, "/emulator/devices", authorization: nil).text
            #expect(devices.contains(#""Waiting":true"#))
            #expect(try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] == ["AA"])
        }
    }

    @Test func `A device that is registered twice gets one push`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.register("AA", tags: "t,u")
            #expect(try await deliveries(tags: "t", emulator) == ["AA"])
        }
    }

    @Test func `After an update or a deletion the old tags reach nobody`() async throws {
        try await withEmulator { emulator in
            let id = try await emulator.register("aa", tags: "old")
            _ = try await emulator.call(
                .put, "/hub/registrations/\(id)", headers: TestEntry.headers, body: TestEntry.apple("aa", tags: "new"))
            #expect(try await deliveries(tags: "old", emulator) == [])
            #expect(try await deliveries(tags: "new", emulator) == ["AA"])
            _ = try await emulator.call(.delete, "/hub/registrations/\(id)", headers: [.ifMatch: "*"])
            #expect(try await deliveries(tags: "new", emulator) == [])
            #expect(try await deliveries(tags: nil, emulator) == [])
        }
    }

    @Test func `A send to millions of devices keeps 16 bytes of each`() {
        #expect(MemoryLayout<DeliveryTarget.Identity>.size == 16)
        let handle = String(repeating: "a", count: 200)
        func identity(_ handle: String, _ body: [UInt8]? = nil) -> DeliveryTarget.Identity {
            .init(handle: handle, template: body.map { DeliveryTarget(handle: handle, format: .apple, body: $0) })
        }
        #expect(identity(handle) == identity(handle) && identity(handle, [1]) == identity(handle, [1]))
        let others = [identity(handle), identity(handle + "b"), identity(handle, [1]), identity(handle, [2])]
        #expect(Set(others).count == others.count)
    }
}
