import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

/// Bulk jobs, against what the .NET client's recordings hold.
@Suite struct HubJobTests {
    private static func entry(_ inner: String) -> String { TestEntry.make("NotificationHubJob", inner) }

    private static let importing =
        "<Type>ImportCreateRegistrations</Type><OutputContainerUri><![CDATA[https://blob.test/c?sig=a&se=1]]>"
        + "</OutputContainerUri><ImportFileUri>https://blob.test/c/Import.txt?a=1&amp;b=2</ImportFileUri>"

    private func submit(_ inner: String, _ emulator: Emulator, hub: String = "hub") async throws -> TestResponse {
        try await emulator.call(
            .post, "/\(hub)/jobs?api-version=2020-06", headers: TestEntry.headers, body: Self.entry(inner))
    }

    @Test func `A job is taken and read as recorded`() async throws {
        try await withEmulator { emulator in
            let response = try await submit(Self.importing, emulator)
            #expect(response.status == .created, "\(response.text)")
            #expect(response.headers[.contentType] == AtomEntry.contentType)
            let id = try #require(response.text.between("<JobId>", "</JobId>"))
            #expect(id.wholeMatch(of: /2\d{18}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil, "\(id)")
            #expect(response.headers[.location] == "http://localhost/hub/jobs/\(id)?api-version=2020-06")
            let fields =
                "<OutputContainerUri>https://blob.test/c?sig=a&amp;se=1</OutputContainerUri>"
                + "<ImportFileUri>https://blob.test/c/Import.txt?a=1&amp;b=2</ImportFileUri>"
            #expect(
                response.text.contains(
                    "<JobId>\(id)</JobId><Type>ImportCreateRegistrations</Type>\(fields)<CreatedAt>"),
                "\(response.text)")
            let read = try await emulator.call(.get, "/hub/Jobs/\(id)?api-version=2020-06")
            #expect(read.status == .ok)
            #expect(read.headers[.contentLocation] == "http://localhost/hub/jobs/\(id)/\(id)?api-version=2020-06")
            // No blob container is reached: the job says so.
            #expect(read.text.contains("<Status>Failed</Status>\(fields)<Failure>\(HubJob.failure)</Failure>"))
        }
    }

    @Test func `Jobs are listed the newest first and bounded`() async throws {
        try await withEmulator { emulator in
            let export = "<Type>ExportRegistrations</Type><OutputContainerUri>https://blob.test/</OutputContainerUri>"
            var ids: [String] = []
            for _ in 0..<(Hub.maxJobs + 2) {
                ids.append(try await submit(export, emulator).text.between("<JobId>", "</JobId>") ?? "")
            }
            let response = try await emulator.call(.get, "/hub/jobs?api-version=2020-06")
            #expect(response.headers[.contentType] == AtomEntry.feedContentType)
            let feed = try XMLReader.read(Array(response.text.utf8))
            let listed = feed.children.filter { $0.name == "entry" }.map { $0.child("title")?.text }
            #expect(listed == ids.reversed().prefix(Hub.maxJobs).map(Optional.some))
            #expect(try await emulator.call(.get, "/hub/jobs/\(ids[0])").status == .notFound)
            #expect(try await emulator.call(.get, "/other/jobs").text.occurrences(of: "<entry ") == 0)
        }
    }

    @Test(arguments: [
        "", "<Type>Import</Type><OutputContainerUri>u</OutputContainerUri>", "<Type>ExportRegistrations</Type>",
        "<Type>ImportDeleteRegistrations</Type><OutputContainerUri>u</OutputContainerUri>",
        "<Type>ImportUpsertRegistrations</Type><OutputContainerUri>u</OutputContainerUri>"
            + "<ImportFileUri i:nil=\"true\"/>",
    ])
    func `What is no job is 400`(_ inner: String) async throws {
        try await withEmulator { emulator in
            let response = try await submit(inner, emulator)
            #expect(response.status == .badRequest)
            #expect(response.text.hasPrefix("<Error><Code>400</Code><Detail>"))
        }
    }

    @Test func `Jobs need Manage`() async throws {
        try await withEmulator { emulator in
            let listen = TestToken.make(rule: SharedAccessRule.defaultListenName, key: emulator.listenKey)
            let response = try await emulator.call(.get, "/hub/jobs", authorization: listen)
            #expect(response.status == .forbidden)
        }
    }
}
