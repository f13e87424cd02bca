import HTTPTypes
import HummingbirdTesting
import Testing

@testable import HubEmulator

@Suite struct FeedbackTests {
    @Test func theContainersURLIsTheWholeBodyAndLeadsToTheEmulator() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, "/Hub/feedbackcontainer?api-version=2020-06")
            #expect(response.status == .ok)
            #expect(response.text == "http://localhost/emulator/feedback/hub")
            let list = try await emulator.call(
                .get, "/emulator/feedback/hub?restype=container&comp=list", authorization: nil)
            let document = try XMLReader.read(Array(list.text.utf8))
            #expect(document.name == "EnumerationResults")
            #expect(document.child("Blobs") != nil)
        }
    }

    @Test func aRecordHasTheElementsInTheOrderThatDotNetReads() throws {
        let feedback = PushFeedback(
            time: WireTime(milliseconds: 0), error: "BadChannel", platform: .gcm, handle: "a<b",
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
