import Foundation
import Testing

@testable import Foundations

/// What root does in a folder that another user owns, and in which that user has put something.
@Suite(.enabled(if: geteuid() == 0, "Only root has something to give away."), .timeLimit(.minutes(5)))
struct SafeFolderTests {
    /// `nobody` plays the user of a service.
    private static let nobody: uid_t = 65534

    /// What such a user can put in the place of a file.
    enum Plant: CaseIterable, Sendable { case link, dangling, hardLink, pipe, folder, folderLink }

    /// Two folders: one of the service, and one that only root may look into, with one file.
    private struct Place {
        let service: String
        let secret: String
        var victim: String { secret + "/existing" }

        func put(_ plant: Plant, at path: String) throws {
            let files = FileManager.default
            switch plant {
            case .link: try files.createSymbolicLink(atPath: path, withDestinationPath: victim)
            case .dangling: try files.createSymbolicLink(atPath: path, withDestinationPath: secret + "/new")
            case .hardLink: try #require(linkat(AT_FDCWD, victim, AT_FDCWD, path, 0) == 0)
            case .pipe: try #require(mkfifo(path, 0o600) == 0)
            case .folder: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .folderLink: try files.createSymbolicLink(atPath: path, withDestinationPath: secret)
            }
            if plant != .hardLink { try #require(lchown(path, nobody, nobody) == 0) }
        }

        func expectUntouched(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: secret)
            #expect(names == ["existing"], sourceLocation: sourceLocation)
            let attributes = try FileManager.default.attributesOfItem(atPath: victim)
            #expect(attributes[.ownerAccountID] as? Int == 0, sourceLocation: sourceLocation)
            #expect(attributes[.posixPermissions] as? Int == 0o600, sourceLocation: sourceLocation)
            let text = try String(contentsOfFile: victim, encoding: .utf8)
            #expect(text.isEmpty, sourceLocation: sourceLocation)
        }
    }

    private func withPlace(_ body: (Place) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-folder-\(UUID().uuidString)")
        let place = Place(service: folder.path + "/service", secret: folder.path + "/secret")
        for path in [place.service, place.secret] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        // Empty, as a file that once changed hands.
        try Data().write(to: URL(filePath: place.victim))
        try #require(chmod(place.victim, 0o600) == 0 && chmod(place.secret, 0o700) == 0)
        try #require(chown(place.service, Self.nobody, Self.nobody) == 0)
        try body(place)
    }

    @Test(arguments: Plant.allCases)
    func `An audit log that is none is refused, and nothing behind it changes`(plant: Plant) throws {
        try withPlace { place in
            let path = place.service + "/audit.log"
            try place.put(plant, at: path)
            #expect(throws: FileError.self) {
                try AuditFile(path: path).append([AuditEntry(service: "test", action: "read")])
            }
            try place.expectUntouched()
        }
    }

    @Test(arguments: ["direct", "relative", "two"])
    func `A folder that is a link is refused if the service can have made it`(kind: String) throws {
        try withPlace { place in
            let link = place.service + "/logs"
            switch kind {
            case "two":
                try FileManager.default.createSymbolicLink(
                    atPath: place.service + "/first", withDestinationPath: "logs")
                try place.put(.folderLink, at: link)
            case "relative":
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../secret")
            default: try place.put(.folderLink, at: link)
            }
            let path = (kind == "two" ? place.service + "/first" : link) + "/audit.log"
            #expect(throws: FileError.self) { try AuditFile(path: path) }
            try place.expectUntouched()
        }
    }

    @Test func `A link of root to the folder is followed, and a new log belongs to the service`() throws {
        try withPlace { place in
            let link = (place.service as NSString).deletingLastPathComponent + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.service)
            try AuditFile(path: link + "/audit.log").append([AuditEntry(service: "test", action: "read")])
            let attributes = try FileManager.default.attributesOfItem(atPath: place.service + "/audit.log")
            #expect(attributes[.ownerAccountID] as? Int == Int(Self.nobody))
            // The next command of root goes on in the file of the service.
            try AuditFile(path: place.service + "/audit.log").append([AuditEntry(service: "test", action: "read")])
        }
    }

    /// Before, the new log began with the hash of the last line of root's file.
    @Test(arguments: [Plant.link, .hardLink, .pipe, .folder])
    func `A rotated log that is none is not read`(plant: Plant) throws {
        try withPlace { place in
            try Data("a secret of root\n".utf8).write(to: URL(filePath: place.victim))
            try place.put(plant, at: place.service + "/audit.log.1")
            let path = place.service + "/audit.log"
            try AuditFile(path: path).append([AuditEntry(service: "test", action: "read")])
            let text = try FileContent(path: path).text
            #expect(text.contains(AuditHash.none.text), "The chain begins with a hash of what is not its own.")
        }
    }

    @Test func `A file of root is not given away because it is empty`() throws {
        try withPlace { place in
            let path = place.service + "/audit.log"
            try Data().write(to: URL(filePath: path))
            try AuditFile(path: path).append([AuditEntry(service: "test", action: "read")])
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.ownerAccountID] as? Int == 0)
        }
    }

    @Test func `A file of a third user is refused`() throws {
        try withPlace { place in
            let path = place.service + "/audit.log"
            try Data().write(to: URL(filePath: path))
            try #require(chown(path, 12345, 12345) == 0)
            #expect(throws: FileError.self) { try AuditFile(path: path) }
        }
    }

    @Test func `Folders that are missing are made, also where a link of root leads`() throws {
        try withPlace { place in
            let root = (place.service as NSString).deletingLastPathComponent
            try FileManager.default.createSymbolicLink(atPath: root + "/l", withDestinationPath: "secret/a")
            try FileManager.default.createDirectory(atPath: place.secret + "/a", withIntermediateDirectories: false)
            let (folder, name) = try SafeFolder.find(root + "/l/b/./c/file", creatingWith: 0o700)
            #expect(try folder.make(name, with: "text", mode: 0o640))
            #expect(try !folder.make(name, with: "other", mode: 0o640))
            let made = place.secret + "/a/b/c/file"
            #expect(try FileContent(path: made).text == "text" && FileContent(path: made).permissions == 0o640)
            try folder.replace(name, with: "new", mode: 0o600)
            #expect(try folder.read(name)?.content.text == "new")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.secret + "/a/b/c") == ["file"])
            try folder.remove(name)
            #expect(try folder.read(name) == nil)
        }
    }

    @Test func `A circle of links ends`() throws {
        try withPlace { place in
            let root = (place.service as NSString).deletingLastPathComponent
            try FileManager.default.createSymbolicLink(atPath: root + "/x", withDestinationPath: "y")
            try FileManager.default.createSymbolicLink(atPath: root + "/y", withDestinationPath: "x")
            #expect(throws: FileError.self) { try SafeFolder(path: root + "/x") }
            #expect(throws: FileError.self) { try SafeFolder.find(root + "/x") }
        }
    }

    @Test(arguments: [
        ("/a/b", ["a", "b"]), ("a//b/", ["a", "b"]), ("/a/\u{301}b", ["a", "\u{301}b"]), ("/\u{20DD}a", ["\u{20DD}a"]),
        ("", []),
    ])
    func `The names of a path are those that the system sees`(path: String, names: [String]) {
        #expect(SafeFolder.components(path).reversed().map { Array($0.utf8) } == names.map { Array($0.utf8) })
    }
}
