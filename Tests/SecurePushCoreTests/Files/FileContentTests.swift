import Foundation
import SecurePushCore
import Testing

@Suite struct FileContentTests {
    private func content(of text: String) throws -> FileContent {
        try withTemporaryPath { path in
            try write(text, to: path)
            return try FileContent(path: path)
        }
    }

    @Test func theWholeTextIsRead() throws {
        let text = " é\n" + String(repeating: "x", count: 200_000) + " \r\n"
        let content = try content(of: text)
        #expect(content.text == text)
        #expect(content.textWithoutEnd == " é\n" + String(repeating: "x", count: 200_000))
        #expect(content.trimmedText == "é\n" + String(repeating: "x", count: 200_000))
    }

    @Test(arguments: [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a"), (" a", " a"), ("\n", ""), ("", ""), ("a \n", "a")])
    func theEndIsTrimmed(_ text: String, _ line: String) throws {
        #expect(try content(of: text).textWithoutEnd == line)
    }

    @Test func permissionsAreThoseOfTheFile() throws {
        try withTemporaryPath { path in
            try write("x", to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
            #expect(try FileContent(path: path).permissions == 0o640)
        }
    }

    @Test func filesOfTheKernelAreRead() throws {
        #expect(try FileContent(path: "/proc/self/stat", maxBytes: 65_536).text.isEmpty == false)
    }

    @Test func whatCannotBeUsedIsSaid() throws {
        let folder = FileManager.default.temporaryDirectory.path
        func code(_ path: String, maxBytes: Int = 10) -> FileError.Code? {
            do throws(FileError) {
                _ = try FileContent(path: path, maxBytes: maxBytes)
                return nil
            } catch { return error.code }
        }
        #expect(code(folder + "/there-is-no-such-file-\(UUID())") == .missing)
        #expect(code(folder) == .unreadable)
        #expect(code("/dev/zero") == .unreadable)
        try withTemporaryPath { path in
            try write("0123456789", to: path)
            #expect(code(path, maxBytes: 9) == .unreadable)
            #expect(code(path, maxBytes: 10) == nil)
            try Data([0xFF, 0xFE]).write(to: URL(filePath: path))
            #expect(code(path) == .malformed)
        }
    }
}
