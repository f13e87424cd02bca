import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

/// Which right which operation needs, by the table of the reference.
@Suite struct AccessRightsTests {
    struct Operation: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let uri: String
        let body: String?
        /// The status with the right.
        let status: Int
        let rights: [String]

        var testDescription: String { "\(method) \(uri)" }

        init(
            _ method: HTTPRequest.Method, _ uri: String, _ status: Int, _ rights: [String], body: String? = nil
        ) {
            self.method = method
            self.uri = uri
            self.body = body
            self.status = status
            self.rights = rights
        }
    }

    private static let names = ["Listen", "Send", "Manage"]

    private static let operations: [Operation] = [
        Operation(.post, "/own/registrations", 200, ["Listen"], body: TestEntry.apple()),
        Operation(.post, "/own/registrationids", 201, ["Listen"]),
        Operation(.put, "/own/registrations/1", 200, ["Listen"], body: TestEntry.apple()),
        Operation(.get, "/own/registrations/1", 404, ["Listen"]),
        Operation(.delete, "/own/registrations/1", 404, ["Listen"]),
        Operation(.get, "/own/registrations?$filter=ChannelUri+eq+'x'", 200, ["Listen"]),
        Operation(.get, "/own/registrations", 200, ["Manage"]),
        Operation(.get, "/own/tags/t/registrations", 200, ["Manage"]),
        Operation(.put, "/own/installations/inst-1", 200, ["Listen"], body: TestInstallation.minimal),
        Operation(.get, "/own/installations/inst-1", 404, ["Listen"]),
        Operation(.patch, "/own/installations/inst-1", 404, ["Listen"], body: "[]"),
        Operation(.delete, "/own/installations/inst-1", 204, ["Listen"]),
        Operation(.post, "/own/messages", 201, ["Send"], body: "{}"),
        Operation(.post, "/own/messages?direct", 201, ["Send"], body: "{}"),
        Operation(.get, "/own/messages/1", 404, ["Send", "Manage"]),
        Operation(.get, "/own/feedbackcontainer", 200, ["Manage"]),
        Operation(.get, "/own", 200, ["Manage"]),
        Operation(.put, "/own", 409, ["Manage"], body: HubDescriptionTests.entry()),
        Operation(.delete, "/own", 200, ["Manage"]),
    ]

    @Test(arguments: operations) func `An operation needs its right`(_ operation: Operation) async throws {
        try await withEmulator { emulator in
            let rules = Self.names.map { name in
                "<AuthorizationRule><Rights><AccessRights>\(name)</AccessRights></Rights><KeyName>\(name)</KeyName>"
                    + "<PrimaryKey>key \(name)</PrimaryKey></AuthorizationRule>"
            }
            let entry = HubDescriptionTests.entry("<AuthorizationRules>\(rules.joined())</AuthorizationRules>")
            #expect(try await emulator.call(.put, "/own", body: entry).status == .created)
            for name in Self.names.filter({ !operation.rights.contains($0) }) + operation.rights {
                var headers: HTTPFields = [HubHeaders.format: "apple", HubHeaders.deviceHandle: "ab"]
                // With it a PUT would be an update.
                if operation.method == .delete { headers[.ifMatch] = "*" }
                let response = try await emulator.call(
                    operation.method, operation.uri, headers: headers, body: operation.body,
                    authorization: TestToken.make(rule: name, key: "key \(name)"))
                guard operation.rights.contains(name) else {
                    #expect(response.status == .forbidden, "\(name)")
                    #expect(response.text.isEmpty)
                    #expect(response.headers[.contentType] == nil)
                    continue
                }
                #expect(response.status.code == operation.status, "\(name): \(response.text)")
            }
        }
    }

    @Test func `The list of hubs needs Manage`() async throws {
        try await withEmulator { emulator in
            let token = TestToken.make(rule: SharedAccessRule.defaultListenName, key: emulator.listenKey)
            let list = try await emulator.call(.get, "/$Resources/NotificationHubs", authorization: token)
            #expect(list.status == .forbidden)
            let none = try await emulator.call(.get, "/$Resources/NotificationHubs", authorization: nil)
            #expect(none.status == .unauthorized)
        }
    }
}
