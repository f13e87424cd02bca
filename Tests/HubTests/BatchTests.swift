import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct BatchTests {
    /// The body as .NET and Java write it.
    private static func body(
        _ notification: String, devices: String, boundary: String = "nh-batch-multipart-boundary"
    ) -> String {
        "--\(boundary)\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n"
            + "\(notification)\r\n--\(boundary)\r\nContent-Type: application/json\r\n"
            + "Content-Disposition: inline; name=devices\r\n\r\n\(devices)\r\n--\(boundary)--\r\n"
    }

    private static func post(
        _ body: String, _ emulator: Emulator, format: String = "apple",
        type: String = "multipart/mixed; boundary=\"nh-batch-multipart-boundary\"",
        uri: String = "/hub/messages/$batch?api-version=2015-08&direct"
    ) async throws -> TestResponse {
        try await emulator.call(
            .post, uri, headers: [HubHeaders.format: format, .contentType: type], body: body)
    }

    @Test(arguments: [
        (
            "multipart/mixed; boundary=\"nh-batch-multipart-boundary\"",
            "/hub/messages/$batch?api-version=2015-08&direct"
        ),
        ("multipart/form-data; boundary=nh-batch-multipart-boundary", "/hub/messages/%24batch?direct=true"),
    ])
    func `Reaches the handles that are known`(_ type: String, _ uri: String) async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "")
            try await emulator.register("bb", tags: "")
            let body = Self.body(#"{"aps":{}}"#, devices: #"["aa","unknown","BB","aa"]"#)
            let response = try await Self.post(body, emulator, type: type, uri: uri)
            #expect(response.status == .created)
            let location = try #require(response.headers[.location])
            #expect(location.contains("/hub/messages/$batch/") && location.hasSuffix("&direct"), "\(location)")
            let record = try #require(try await emulator.records("?Limit=1").first)
            #expect(record["Kind"] as? String == "batch")
            #expect(record["Body"] as? String == #"{"aps":{}}"#)
            #expect(record["Deliveries"] as? [String] == ["aa", "BB"])
            #expect(record["Outcomes"] as? [String: Int] == ["Success": 2, "BadChannel": 1, "Skipped": 1])
            #expect((record["Headers"] as? [String: String])?["Content-Type"] == "application/json")
        }
    }

    @Test(
        arguments: [
            ("[]", 400), ("{}", 400), ("[1]", 400), (#"["a",""]"#, 400), ("nonsense", 400), (#"["a"]"#, 201),
            (#"["a","b\u0001"]"#, 400), (#"["\u0000"]"#, 400), ("[\"\(String(repeating: "a", count: 4096))\"]", 201),
            ("[\"a\",\"\(String(repeating: "a", count: 4097))\"]", 400),
            ("[" + Array(repeating: "\"a\"", count: 1000).joined(separator: ",") + "]", 201),
            ("[" + Array(repeating: "\"a\"", count: 1001).joined(separator: ",") + "]", 400),
        ] as [(String, Int)])
    func `A batch has one to 1000 handles`(_ devices: String, _ status: Int) async throws {
        try await withEmulator { emulator in
            let response = try await Self.post(Self.body("{}", devices: devices), emulator)
            #expect(response.status.code == status, "\(response.text)")
        }
    }

    @Test func `What is no batch is 400 and 413`() async throws {
        try await withEmulator { emulator in
            let good = Self.body("{}", devices: #"["a"]"#)
            let noDirect = try await Self.post(good, emulator, uri: "/hub/messages/$batch?api-version=2015-08")
            #expect(noDirect.status == .badRequest)
            for type in ["", "application/json", "multipart/mixed", "multipart/mixed; boundary=other"] {
                #expect(try await Self.post(good, emulator, type: type).status == .badRequest, "\(type)")
            }
            #expect(try await Self.post(good, emulator, format: "template").status == .badRequest)
            #expect(try await Self.post(good, emulator, format: "palm").status == .badRequest)
            let large = Self.body(String(repeating: "x", count: 65_537), devices: #"["a"]"#)
            #expect(try await Self.post(large, emulator).status == .contentTooLarge)
        }
    }

    @Test(arguments: [
        "--B\nContent-Disposition: inline; name=\"devices\"\n\nx\n--B\n\ny\n--B--",
        "preamble\r\n--B \r\nCONTENT-DISPOSITION: form-data; filename=\"a;b\"; name=devices\r\n\r\nx\r\n--B\r\n\r\n"
            + "y\r\n--B--",
    ])
    func `Parts are read whatever the line ends`(_ text: String) throws {
        let parts = try MultipartReader.parts(of: Array(text.utf8), contentType: "Multipart/Mixed; Boundary=B")
        #expect(parts.map(\.name) == ["devices", nil])
        #expect(parts.map { String(decoding: $0.body, as: UTF8.self) } == ["x", "y"])
    }

    @Test(arguments: ["", "--B", "--B\r\n\r\nx", "--B\r\nno colon\r\n\r\nx\r\n--B--", "--Bx--"])
    func `Broken bodies are 400`(_ text: String) {
        #expect(throws: HubError.self) {
            _ = try MultipartReader.parts(of: Array(text.utf8), contentType: "multipart/mixed; boundary=B")
        }
    }
}
