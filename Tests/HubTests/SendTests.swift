import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct SendTests {
    @Test(arguments: ["/hub/messages?api-version=2015-04", "/hub/messages/?api-version=2015-04"])
    func `Answers as recorded`(_ uri: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.send(
                headers: [HubHeaders.trackingID: "track-1", HubHeaders.correlationID: "corr-1"], uri: uri)
            #expect(response.status == .created)
            #expect(response.text.isEmpty)
            #expect(response.headers[.contentType] == "application/xml; charset=utf-8")
            #expect(response.headers[HubHeaders.trackingID] == "track-1")
            #expect(response.headers[HubHeaders.correlationID] == "corr-1")
            let location = try #require(response.headers[.location])
            let shape = /http:\/\/localhost\/hub\/messages\/[0-9a-f]{32}-\d{14}-\d+-\d+\?api-version=2015-04/
            #expect(location.wholeMatch(of: shape) != nil, "\(location)")
            let records = try await emulator.records()
            #expect(records.count == 1)
            #expect(location.contains(records[0]["Id"] as? String ?? "-"))
        }
    }

    @Test func `A missing version and other path case are tolerated`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.send(uri: "/hub/Messages")
            #expect(response.status == .created)
            #expect(response.headers[.location]?.hasSuffix("?api-version=2020-06") == true)
        }
    }

    @Test(arguments: NotificationFormat.allCases) func `Formats come in any case`(_ format: NotificationFormat)
        async throws
    {
        try await withEmulator { emulator in
            for name in [format.rawValue, format.rawValue.uppercased(), format.rawValue.capitalized] {
                #expect(try await emulator.send("{}", format: name).status == .created)
            }
            let platforms = try await emulator.records().map { $0["Platform"] as? String }
            #expect(platforms == [format.rawValue, format.rawValue, format.rawValue])
        }
    }

    @Test(arguments: ["", "iphone", "apple,fcmv1"]) func `Other formats are 400`(_ format: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.send(format: format)
            #expect(response.status == .badRequest)
            #expect(response.text.hasPrefix("<Error><Code>400</Code><Detail>"))
            #expect(try await emulator.call(.post, "/hub/messages", body: "{}").status == .badRequest)
        }
    }

    @Test func `Bad tag expressions are 400 and are not recorded`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.send(tags: "a &&")
            #expect(response.status == .badRequest)
            #expect(try await emulator.records().isEmpty)
        }
    }

    @Test(arguments: [(65_536, HTTPResponse.Status.created), (65_537, .contentTooLarge)])
    func `Bodies have 64 KB`(_ size: Int, _ status: HTTPResponse.Status) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.send(String(repeating: "x", count: size), format: "adm")
            #expect(response.status == status)
            if status == .contentTooLarge { #expect(response.text.hasPrefix("<Error><Code>413</Code>")) }
        }
    }

    @Test(arguments: ["text/plain", "", "application/json; charset=\"utf-8\"", "nonsense"])
    func `Content types are tolerated`(_ type: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.send(headers: [.contentType: type])
            #expect(response.status == .created)
        }
    }

    @Test(arguments: ["direct", "direct=", "direct=true", "Direct"])
    func `Direct sends need no registration`(_ query: String) async throws {
        try await withEmulator { emulator in
            try await emulator.register("ab12", tags: "t", hub: "other")
            let response = try await emulator.send(
                headers: [HubHeaders.deviceHandle: "ab12"], uri: "/hub/messages?api-version=2015-04&\(query)")
            #expect(response.status == .created)
            #expect(response.headers[.location]?.hasSuffix("?api-version=2015-04&direct") == true)
            let record = try #require(try await emulator.records("?Limit=1").first)
            #expect(record["Deliveries"] as? [String] == ["ab12"])
            #expect(record["Kind"] as? String == "direct")
            let missing = try await emulator.send(uri: "/hub/messages?api-version=2015-04&\(query)")
            #expect(missing.status == .badRequest)
        }
    }

    @Test func `The handle counts for nothing without direct`() async throws {
        try await withEmulator { emulator in
            _ = try await emulator.send(headers: [HubHeaders.deviceHandle: "ab12"])
            let record = try #require(try await emulator.records().first)
            #expect(record["Deliveries"] as? [String] == [])
            #expect(record["Outcome"] as? String == "NoTargetFound")
        }
    }

    @Test func `Only named hubs exist when there are names`() async throws {
        try await withEmulator(hubNames: ["hub"]) { emulator in
            #expect(try await emulator.send(uri: "/HUB/messages").status == .created)
            let other = try await emulator.send(uri: "/other/messages")
            #expect(other.status == .notFound)
            #expect(other.detail?.hasPrefix("No service is hosted at the specified address.") == true)
        }
    }
}
