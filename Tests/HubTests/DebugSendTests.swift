import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct DebugSendTests {
    @Test(arguments: ["test", "test=true", "Test="]) func `It tells what became of each device`(_ query: String)
        async throws
    {
        try await withEmulator { emulator in
            let id = try await emulator.register("aa", tags: "t")
            let response = try await emulator.send(tags: "t", uri: "/hub/messages?api-version=2020-06&\(query)")
            #expect(response.status == .created)
            #expect(response.headers[.contentType] == "application/xml; charset=utf-8")
            let root = try XMLReader.read(Array(response.text.utf8))
            #expect(root.name == "NotificationOutcome" && root.namespace == XMLNamespace.connect)
            #expect(root.children.map(\.name) == ["Success", "Failure", "Results"])
            #expect(root.children.map(\.text).prefix(2) == ["1", "0"])
            let result = try #require(root.child("Results")?.children.first)
            #expect(result.children.map(\.name) == ["ApplicationPlatform", "PnsHandle", "RegistrationId", "Outcome"])
            #expect(result.children.prefix(3).map(\.text) == ["apple", "AA", id])
            let words = "The Notification was successfully sent to the Push Notification System"
            #expect(result.child("Outcome")?.text == words)
            #expect(try await emulator.records("?Limit=1").first?["Kind"] as? String == "test")
        }
    }

    @Test func `Ten devices at most`() async throws {
        try await withEmulator { emulator in
            for number in 10..<25 { try await emulator.register("\(number)", tags: "t") }
            let response = try await emulator.send(tags: "t", uri: "/hub/messages?test")
            #expect(response.text.occurrences(of: "<RegistrationResult>") == 10)
            #expect(
                try await emulator.send(tags: "nobody", uri: "/hub/messages?test").text.contains("<Results></Results>"))
        }
    }

    @Test func `Failures are told in the service's words`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Outcome":"badchannel","Count":1}"#)
            let response = try await emulator.send(tags: "t", uri: "/hub/messages?test")
            #expect(response.text.contains("<Success>0</Success><Failure>1</Failure>"))
            #expect(response.text.contains("The Push Notification System handle for the registration is invalid"))
        }
    }

    @Test func `Direct sends are no debug sends`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.send(
                headers: [HubHeaders.deviceHandle: "aa"], uri: "/hub/messages?direct&test=true")
            #expect(response.status == .created)
            #expect(response.text.isEmpty)
        }
    }
}
