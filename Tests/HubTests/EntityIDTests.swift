import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

/// The IDs of registrations and installations: compared without regard to case, as the service does.
@Suite struct EntityIDTests {
    @Test func `A registration is the same in any case`() async throws {
        try await withEmulator { emulator in
            func put(_ id: String, _ token: String) async throws -> TestResponse {
                try await emulator.call(
                    .put, "/hub/registrations/\(id)", headers: TestEntry.headers,
                    body: TestEntry.apple(token, tags: "t"))
            }
            #expect(try await put("Reg-A", "AA").headers[.eTag] == "W/\"1\"")
            #expect(try await put("rEG-a", "BB").headers[.eTag] == "W/\"2\"")
            #expect(try await emulator.call(.get, "/HUB/Registrations/REG-A").text.contains("<DeviceToken>BB<"))
            #expect(try await emulator.call(.get, "/hub/registrations").text.occurrences(of: "<entry ") == 1)
            let deleted = try await emulator.call(.delete, "/hub/registrations/reg-A", headers: [.ifMatch: "\"2\""])
            #expect(deleted.status == .ok)
            #expect(try await put("reg-a", "CC").status == .gone)
        }
    }

    /// With IDs compared by case, one who knows an ID could not overwrite it here, and could at the service.
    @Test func `An installation is the same in any case`() async throws {
        try await withEmulator { emulator in
            _ = try await emulator.install(
                #"{"installationId":"Inst-A","platform":"apns","pushChannel":"AA"}"#, id: "Inst-A")
            let put = try await emulator.install(
                #"{"installationId":"INST-a","platform":"apns","pushChannel":"BB"}"#, id: "inst-a")
            #expect(put.status == .ok, "\(put.text)")
            #expect(try await emulator.call(.get, "/hub/installations/INST-A").text.contains(#""pushChannel":"BB""#))
            #expect(try await emulator.call(.get, "/hub/registrations").text.occurrences(of: "<entry ") == 1)
            _ = try await emulator.call(
                .patch, "/hub/installations/iNST-a", body: #"[{"op":"add","path":"/tags","value":"x"}]"#)
            _ = try await emulator.send(tags: "$INSTALLATIONID:{inst-A} && x")
            #expect(try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] == ["BB"])
            _ = try await emulator.call(.delete, "/hub/installations/inst-A")
            #expect(try await emulator.call(.get, "/hub/installations/Inst-A").status == .notFound)
        }
    }

    @Test(arguments: [
        "..", ".", "%2E%2E", "...", "a%2Fb", "a%00", "a%20b", "%C3%A9", "a%22b", "a%2Cb", "a%3Fb", "a%25b", "%0A",
        String(repeating: "a", count: 261),
    ])
    func `Other installation IDs are 400`(_ id: String) async throws {
        try await withEmulator { emulator in
            for method in [HTTPRequest.Method.put, .get, .patch, .delete] {
                let response = try await emulator.call(
                    method, "/hub/installations/\(id)", body: #"{"platform":"apns","pushChannel":"AA"}"#)
                #expect(response.status == .badRequest, "\(method)")
                #expect(response.text.hasPrefix("<Error><Code>400</Code>"))
            }
        }
    }

    @Test(arguments: ["..", ".", "%2e%2E", "a%2Fb", "a%00", "a%20b", "%C3%A9", String(repeating: "a", count: 257)])
    func `Other registration IDs are never stored`(_ id: String) async throws {
        try await withEmulator { emulator in
            let put = try await emulator.call(
                .put, "/hub/registrations/\(id)", headers: TestEntry.headers, body: TestEntry.apple())
            #expect(put.status == .badRequest)
            #expect(try await emulator.call(.get, "/hub/registrations/\(id)").status == .notFound)
        }
    }

    @Test(arguments: ["a", "A.b_c-1", "user@host#1:x=", String(repeating: "a", count: 260)])
    func `Good installation IDs are taken`(_ id: String) async throws {
        #expect(InstallationText.isID(id))
        try await withEmulator { emulator in
            let escaped = id.replacing("#", with: "%23")
            let put = try await emulator.install(#"{"platform":"apns","pushChannel":"AA"}"#, id: escaped)
            #expect(put.status == .ok)
            #expect(try await emulator.call(.get, "/hub/installations/\(escaped)").text.contains("\"\(id)\""))
        }
    }
}
