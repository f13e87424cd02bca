import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Storage
import Testing

@testable import Hub

@Suite struct FeedbackTests {
    @Test func `The container's URL is the whole body and opens it without a token`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, "/Hub/feedbackcontainer?api-version=2020-06")
            #expect(response.status == .ok)
            try #require(response.text.hasPrefix("http://localhost/Hub/feedbackcontainer/files?se="))
            let path = String(response.text.dropFirst("http://localhost".count))
            let list = try await emulator.call(.get, "\(path)&restype=container&comp=list", authorization: nil)
            let document = try XMLReader.read(Array(list.text.utf8))
            #expect(document.name == "EnumerationResults")
            #expect(document.child("Blobs") != nil)
            let blob = path.replacing("/files?", with: "/files/feedback.xml?")
            let read = try await emulator.call(.get, blob, authorization: nil)
            #expect(read.status == .ok)
            for query in ["", "?token=x", "?se=1&skn=x&sig=x", "?sig=x"] {
                let refused = try await emulator.call(
                    .get, "/hub/feedbackcontainer/files\(query)", authorization: nil)
                #expect(refused.status == .unauthorized)
            }
        }
    }

    @Test func `The container's URL holds no token, and opens the feedback of its hub only`() async throws {
        try await withEmulator { emulator in
            let token = TestToken.make()
            let url = try await emulator.call(.get, "/hub/feedbackcontainer", authorization: token).text
            #expect(!url.contains("sr="), "the form of a token")
            let query = try #require(url.split(separator: "?").last)
            for path in ["/other/feedbackcontainer/files", "/hub/registrations", "/hub/feedbackcontainer"] {
                let answer = try await emulator.call(.get, "\(path)?\(query)", authorization: nil)
                #expect(answer.status == .unauthorized, "\(path)")
            }
            // The text that was signed is also that of a token for `hub`.
            let forged = "SharedAccessSignature sr=hub&\(query)"
            let answer = try await emulator.call(.get, "/hub/registrations", authorization: forged)
            #expect(answer.text.contains("InvalidSignature"))
        }
    }

    @Test func `Access to feedback ends after an hour, and with its rule`() throws {
        let now = Timestamp(milliseconds: 1_000_000)
        let access = FeedbackAccess(hubKey: "hub", ruleName: "r+1", key: "key", now: now)
        let read = try #require(FeedbackAccess(HubQuery(access.query)))
        #expect(read.ruleName == "r+1" && read.expirySeconds == 4600)
        #expect(!read.isExpired(at: Timestamp(milliseconds: 4_600_000)))
        #expect(read.isExpired(at: Timestamp(milliseconds: 4_601_000)))
        func rule(_ name: String, _ key: String, _ rights: AccessRights) -> HubAuthorizer {
            let rule = SharedAccessRule(name: name, primaryKey: "other", secondaryKey: key, rights: rights)
            return HubAuthorizer(rules: [rule], endpointHost: "")
        }
        #expect(rule("r+1", "key", .full).grants(read, hubKey: "hub"))
        #expect(!rule("r+1", "key", .full).grants(read, hubKey: "other"))
        #expect(!rule("r+1", "new", .full).grants(read, hubKey: "hub"))
        #expect(!rule("r+1", "key", [.listen, .send]).grants(read, hubKey: "hub"))
        #expect(!rule("r2", "key", .full).grants(read, hubKey: "hub"))
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
        let feedback = HubFeedbackRow(
            hub: "hub", notedAt: Timestamp(milliseconds: 0), error: "BadChannel", platform: "gcm", handle: "a<b",
            registrationID: "1-2-3", installationID: "i", messageID: "m")
        let document = try XMLReader.read(Array(feedback.document.utf8))
        #expect(
            document.children.map(\.name) == [
                "FeedbackTime", "NotificationSystemError", "Platform", "PnsHandle", "RegistrationId", "InstallationId",
                "NotificationId",
            ])
        #expect(document.child("PnsHandle")?.text == "a<b")
    }
}
