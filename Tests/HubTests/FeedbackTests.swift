import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct FeedbackTests {
    @Test func `The container's URL is the whole body and has the token`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, "/Hub/feedbackcontainer?api-version=2020-06")
            #expect(response.status == .ok)
            let container = "http://localhost/Hub/feedbackcontainer/files?token="
            try #require(response.text.hasPrefix(container + "SharedAccessSignature%20"))
            let path = response.text.dropFirst("http://localhost".count)
            let list = try await emulator.call(.get, "\(path)&restype=container&comp=list", authorization: nil)
            let document = try XMLReader.read(Array(list.text.utf8))
            #expect(document.name == "EnumerationResults")
            #expect(document.child("Blobs") != nil)
            for query in ["", "?token=x"] {
                let refused = try await emulator.call(
                    .get, "/hub/feedbackcontainer/files\(query)", authorization: nil)
                #expect(refused.status == .unauthorized)
            }
        }
    }

    @Test func `What push services say of a handle is in the container`() async throws {
        try await withEmulator { emulator in
            let blob = "/hub/feedbackcontainer/files/feedback.xml"
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Outcome":"ExpiredChannel","Count":1}"#)
            for _ in 0..<2 { _ = try await emulator.send(tags: "t") }
            _ = try await emulator.send(
                format: "gcm", headers: [HubHeaders.deviceHandle: "x"], uri: "/hub/messages?direct")
            let lines = try await emulator.call(.get, blob).text.split(separator: "\n")
            try #require(lines.count == 2)
            for (line, expected) in zip(lines, [("ExpiredChannel", "apple", "AA"), ("BadChannel", "gcm", "x")]) {
                let record = try XMLReader.read(Array(line.utf8))
                #expect(record.child("NotificationSystemError")?.text == expected.0)
                #expect(record.child("Platform")?.text == expected.1)
                #expect(record.child("PnsHandle")?.text == expected.2)
            }
            let list = try await emulator.call(.get, "/hub/feedbackcontainer/files")
            #expect(list.text.contains("<Name>feedback.xml</Name>"))
        }
    }

    @Test func `A record has the elements in the order that .NET reads`() throws {
        let feedback = PushFeedback(
            time: Timestamp(milliseconds: 0), error: "BadChannel", platform: .gcm, handle: "a<b",
            registrationID: "1-2-3",
            installationID: "i", messageID: "m")
        let document = try XMLReader.read(Array(feedback.document.utf8))
        #expect(
            document.children.map(\.name) == [
                "FeedbackTime", "NotificationSystemError", "Platform", "PnsHandle", "RegistrationId", "InstallationId",
                "NotificationId",
            ])
        #expect(document.child("PnsHandle")?.text == "a<b")
    }
}
