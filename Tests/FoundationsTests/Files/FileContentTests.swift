import Foundation
import TestSupport
import Testing

@testable import Foundations

struct FileContentTests {
    private func content(of text: String) throws -> FileContent {
        try withTemporaryPath { path in
            try write(text, to: path)
            return try FileContent(path: path)
        }
    }

    @Test func `The whole text is read`() throws {
        let text = " é\n" + String(repeating: "x", count: 200_000) + " \r\n"
        let content = try content(of: text)
        #expect(content.text == text)
        #expect(content.textWithoutEnd == " é\n" + String(repeating: "x", count: 200_000))
        #expect(content.trimmedText == "é\n" + String(repeating: "x", count: 200_000))
    }

    @Test(arguments: [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a"), (" a", " a"), ("\n", ""), ("", ""), ("a \n", "a")])
    func `The end is trimmed`(_ text: String, _ line: String) throws {
        #expect(try content(of: text).textWithoutEnd == line)
    }

    @Test func `Permissions are those of the file`() throws {
        try withTemporaryPath { path in
            try write("x", to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
            #expect(try FileContent(path: path).permissions == 0o640)
        }
    }

    @Test func `A file that is written meanwhile is read again`() throws {
        try withTemporaryPath { path in
            let (half, whole) = ("aaaa", "aaaaaaaa")
            try write(half, to: path)
            let descriptor = try FileContent.open(path)
            defer { close(descriptor) }
            let content = try FileContent(descriptor: descriptor, path: path) { attempt in
                // In place: the descriptor stays that of the file.
                guard attempt < 3, let file = FileHandle(forWritingAtPath: path) else { return }
                file.truncateFile(atOffset: 0)
                file.write(Data((attempt == 1 ? "aaaaaa" : whole).utf8))
                try? file.close()
            }
            #expect(content.text == whole)
            #expect(content.version(path).isCurrent)
        }
    }

    @Test func `A file that never rests is taken as it is, and is another version at once`() throws {
        try withTemporaryPath { path in
            try write("0", to: path)
            let descriptor = try FileContent.open(path)
            defer { close(descriptor) }
            var text = "0"
            let content = try FileContent(descriptor: descriptor, path: path) { attempt in
                text += "\(attempt % 10)"
                guard let file = FileHandle(forWritingAtPath: path) else { return }
                file.write(Data(text.utf8))
                try? file.close()
            }
            #expect(!content.text.isEmpty && content.text.utf8.count <= text.utf8.count)
            #expect(!content.version(path).isCurrent || content.text == text)
        }
    }

    @Test func `Files of the kernel are read`() throws {
        #expect(try FileContent(path: "/proc/self/stat", maxBytes: 65_536).text.isEmpty == false)
    }

    @Test(.timeLimit(.minutes(1))) func `A pipe is read to its end`() throws {
        try withTemporaryPath { path in
            try #require(mkfifo(path, 0o600) == 0)
            // Opening waits for the reader.
            Thread.detachNewThread {
                let writer = FileHandle(forWritingAtPath: path)
                for part in ["on", "e"] { writer?.write(Data(part.utf8)) }
                try? writer?.close()
            }
            #expect(try FileContent(path: path).text == "one")
        }
    }

    /// A user can put a pipe into the place of a file at any moment, also between a look at it and its opening.
    @Test(.enabled(if: geteuid() == 0, "Others wait for a pipe."), .timeLimit(.minutes(1)))
    func `Root waits for no pipe of another user`() throws {
        try withTemporaryPath { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try write("x", to: folder + "/file")
            try #require(mkfifo(folder + "/pipe", 0o600) == 0 && chown(folder + "/pipe", 65534, 65534) == 0)
            Thread.detachNewThread {
                for name in Array(repeating: ["file", "pipe"], count: 5000).joined() {
                    symlink(name, folder + "/new")
                    rename(folder + "/new", folder + "/path")
                }
            }
            for _ in 0..<5000 { _ = try? FileContent(path: folder + "/path") }
            #expect(throws: FileError.self) { try FileContent(path: folder + "/pipe") }
            #expect(try FileContent(path: folder + "/file").text == "x")
        }
    }

    @Test func `What cannot be used is said`() throws {
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
