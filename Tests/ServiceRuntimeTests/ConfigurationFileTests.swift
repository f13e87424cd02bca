import Foundation
import ServiceRuntime
import Testing

@testable import ServiceConfiguration

@Suite("Settings that name files")
struct ConfigurationFileTests {
    @Test func existingFile() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys")
            try "k1".write(to: file, atomically: true, encoding: .utf8)
            let parser = ConfigurationParser<String>.existingFile
            #expect(try parser.parse(file.path) == file.path)
            #expect(throws: ConfigurationRefusal("names a folder, not a file")) { try parser.parse(folder.path) }
            #expect(throws: ConfigurationRefusal("names a file that does not exist")) {
                try parser.parse(file.path + "x")
            }
            #expect(try ConfigurationParser<String>.path.parse(file.path + "x") == file.path + "x")
        }
    }

    @Test func contentsInsteadOfAValue() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "hub")
            try "  Endpoint=sb://x/\n".write(to: file, atomically: true, encoding: .utf8)
            var reader = ConfigurationReader(environment: ["HUB_CONNECTION_STRING_FILE": file.path])
            let value = reader.require(\.hubConnectionString, orFile: \.hubConnectionStringFile)
            #expect(value == "Endpoint=sb://x/")
            #expect(reader.issues.isEmpty)
        }
    }

    @Test func bothIsAnIssue() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "hub")
            try "x".write(to: file, atomically: true, encoding: .utf8)
            var reader = ConfigurationReader(environment: [
                "HUB_CONNECTION_STRING_FILE": file.path, "HUB_CONNECTION_STRING": "secret-word",
            ])
            let value = reader[\.hubConnectionString, orFile: \.hubConnectionStringFile]
            #expect(value == nil)
            #expect(
                reader.issues.map(\.description) == [
                    "HUB_CONNECTION_STRING: is set, and HUB_CONNECTION_STRING_FILE too: set one of them"
                ])
        }
    }

    @Test(arguments: [Data(), Data("\n \n".utf8), Data([0xFF, 0xFE]), Data(repeating: 0x61, count: 70_000)])
    func uselessContents(contents: Data) async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "hub")
            try contents.write(to: file)
            var reader = ConfigurationReader(environment: ["HUB_CONNECTION_STRING_FILE": file.path])
            let value = reader[\.hubConnectionString, orFile: \.hubConnectionStringFile]
            #expect(value == nil)
            #expect(reader.issues.map(\.key) == ["HUB_CONNECTION_STRING_FILE"])
        }
    }

    @Test func neitherIsAnIssueWhereItIsNeeded() {
        var reader = ConfigurationReader(environment: [:])
        #expect(reader[\.hubConnectionString, orFile: \.hubConnectionStringFile] == nil)
        #expect(reader.require(\.hubConnectionString, orFile: \.hubConnectionStringFile, if: false) == nil)
        #expect(reader.issues.isEmpty)
        #expect(reader.require(\.hubConnectionString, orFile: \.hubConnectionStringFile) == nil)
        #expect(
            reader.issues.map(\.problem) == [
                "is needed and not set (HUB_CONNECTION_STRING or HUB_CONNECTION_STRING_FILE)"
            ])
    }
}
