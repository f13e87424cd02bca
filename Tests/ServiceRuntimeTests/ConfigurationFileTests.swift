import Foundation
import ServiceRuntime
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite("Settings that name files")
struct ConfigurationFileTests {
    @Test func `A setting may have to name a file that exists`() async throws {
        try await withTemporaryFolderURL { folder in
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

    @Test func `The contents of a file take the place of a value`() async throws {
        try await withTemporaryFolderURL { folder in
            let file = folder.appending(path: "hub")
            try "  Endpoint=sb://x/\n".write(to: file, atomically: true, encoding: .utf8)
            var reader = ConfigurationReader(environment: ["HUB_CONNECTION_STRING_FILE": file.path])
            let value = reader.require(\.hubConnectionString, orFile: \.hubConnectionStringFile)
            #expect(value == "Endpoint=sb://x/")
            #expect(reader.issues.isEmpty)
        }
    }

    @Test func `A value and a file together are an issue`() async throws {
        try await withTemporaryFolderURL { folder in
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
    func `A file that is empty, too large or no UTF-8 is an issue`(contents: Data) async throws {
        try await withTemporaryFolderURL { folder in
            let file = folder.appending(path: "hub")
            try contents.write(to: file)
            var reader = ConfigurationReader(environment: ["HUB_CONNECTION_STRING_FILE": file.path])
            let value = reader[\.hubConnectionString, orFile: \.hubConnectionStringFile]
            #expect(value == nil)
            #expect(reader.issues.map(\.key) == ["HUB_CONNECTION_STRING_FILE"])
        }
    }

    @Test func `Neither is an issue where it is needed`() {
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
