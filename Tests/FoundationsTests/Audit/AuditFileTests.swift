import Foundation
import Testing

@testable import Foundations

/// The audit log's file: its chain, several writers, rotation, and files that cannot be used.
struct AuditFileTests {
    private func entry(_ action: String, id: String? = nil) -> AuditEntry {
        AuditEntry(service: "test", actor: "alice", action: action, id: id, address: "127.0.0.1")
    }

    private func withFolder(_ body: (_ path: String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-audit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "audit.log").path)
    }

    private func lines(_ paths: String...) throws -> [String] {
        try paths.flatMap { try FileContent(path: $0).text.split(separator: "\n").map(String.init) }
    }

    private func verify(_ lines: [String], allowsRestarts: Bool = false) -> AuditVerifier.Report {
        var verifier = AuditVerifier(allowsRestarts: allowsRestarts)
        for (index, line) in lines.enumerated() { verifier.check(Array(line.utf8), at: "line \(index + 1)") }
        return verifier.report
    }

    @Test func `Each line has the same members and the hash of the line before`() throws {
        try withFolder { path in
            let file = try AuditFile(path: path)
            try file.append([entry("read", id: "1"), entry("read", id: "2")])
            try file.append([entry("device.register")])
            let lines = try lines(path)
            let zeros = String(repeating: "0", count: 64)
            #expect(lines[0].hasPrefix(#"{"time":"20"#))
            #expect(
                lines[0].hasSuffix(
                    #","service":"test","actor":"alice","action":"read","id":"1","result":"ok","#
                        + #""address":"127.0.0.1","request":null,"prev":"\#(zeros)"}"#))
            #expect(lines[1].contains(#""prev":"\#(AuditHash(of: Array(lines[0].utf8)).text)""#))
            let report = verify(lines)
            #expect(report.fault == nil && report.lines == 3 && report.earlier == .none)
            #expect(report.head == AuditHash(of: Array(lines[2].utf8)))
            let status = try FileManager.default.attributesOfItem(atPath: path)
            #expect(status[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `Two writers share one chain, and a restart goes on with it`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-audit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "audit.log").path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                let file = try AuditFile(path: path)
                group.addTask {
                    for number in 0..<50 { try file.append([entry("writer \(writer)", id: "\(number)")]) }
                }
            }
            try await group.waitForAll()
        }
        try AuditFile(path: path).append([entry("restart")])
        let report = verify(try lines(path))
        #expect(report.fault == nil && report.lines == 101)
    }

    @Test func `A renamed file is left, and the new one goes on with the chain`() throws {
        try withFolder { path in
            let (first, second) = (try AuditFile(path: path), try AuditFile(path: path))
            try first.append([entry("a")])
            try second.append([entry("b")])
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            try second.append([entry("c")])
            try first.append([entry("d")])
            #expect(try lines(path + ".1").count == 2)
            let report = verify(try lines(path + ".1", path))
            #expect(report.fault == nil && report.lines == 4)
            #expect(verify(try lines(path)).earlier != .none)
        }
    }

    @Test(arguments: [".1", "-20261123"])
    func `A process that starts after the rotation goes on with the chain of the old file`(suffix: String) throws {
        try withFolder { path in
            try AuditFile(path: path).append([entry("a"), entry("b")])
            try FileManager.default.moveItem(atPath: path, toPath: path + suffix)
            // Neither older nor compressed files count.
            try Data("x".utf8).write(to: URL(filePath: path + ".2.gz"))
            try AuditFile(path: path).append([entry("c")])
            let report = verify(try lines(path + suffix, path))
            #expect(report.fault == nil && report.lines == 3)
        }
    }

    @Test func `A file that was renamed twice while a writer was idle is followed`() throws {
        try withFolder { path in
            let (idle, busy) = (try AuditFile(path: path), try AuditFile(path: path))
            try idle.append([entry("a")])
            try FileManager.default.moveItem(atPath: path, toPath: path + ".2")
            try busy.append([entry("b")])
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            try idle.append([entry("c")])
            try busy.append([entry("d")])
            let report = verify(try lines(path + ".2", path + ".1", path))
            #expect(report.fault == nil && report.lines == 4)
        }
    }

    @Test func `A rotated file that ends within a line is not changed, and the chain goes on`() throws {
        try withFolder { path in
            try AuditFile(path: path).append([entry("a")])
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(#"{"time":"2026-01-01T0"#.utf8))
            try handle.close()
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            let old = try FileContent(path: path + ".1").text
            try AuditFile(path: path).append([entry("b")])
            #expect(try FileContent(path: path + ".1").text == old)
            let report = verify(try lines(path + ".1", path))
            #expect(report.fault == nil && report.lines == 3 && report.incomplete == 1)
        }
    }

    @Test func `A folder that was replaced is left too`() throws {
        try withFolder { path in
            let folder = (path as NSString).deletingLastPathComponent
            defer { try? FileManager.default.removeItem(atPath: folder + ".old") }
            let file = try AuditFile(path: path)
            try file.append([entry("a")])
            try FileManager.default.moveItem(atPath: folder, toPath: folder + ".old")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try file.append([entry("b")])
            let report = verify(try lines(folder + ".old/audit.log", path))
            #expect(report.fault == nil && report.lines == 2)
        }
    }

    #if os(Linux)
    /// In a process of its own: what it uses up, other tests need.
    @Test func `Without a free descriptor lines are written all the same`() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-audit-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appending(path: "audit.log").path
            let file = try AuditFile(path: path)
            let entry = AuditEntry(service: "test", action: "read")
            try file.append([entry])
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            getrlimit(resource, &limit)
            let former = limit.rlim_cur
            limit.rlim_cur = 3
            setrlimit(resource, &limit)
            for _ in 0..<2 { try? file.append([entry]) }
            limit.rlim_cur = former
            setrlimit(resource, &limit)
            let lines = try FileContent(path: path).text.split(separator: "\n")
            try FileManager.default.removeItem(at: folder)
            exit(lines.count == 3 ? 0 : 1)
        }
    }
    #endif

    @Test(.enabled(if: geteuid() == 0, "Only root can give a file to another user."))
    func `A file that root creates belongs to the owner of the folder`() throws {
        try withFolder { path in
            let folder = (path as NSString).deletingLastPathComponent
            try #require(chown(folder, 65534, 65534) == 0)
            try AuditFile(path: path).append([entry("a")])
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.ownerAccountID] as? Int == 65534)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `The chain of standard output goes on after a write of which a part has failed`() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        // Half of the lines do not fit into the pipe.
        try #require(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        let file = AuditFile(path: "-", stream: ends[1], streamPatience: .milliseconds(50))
        var output: [UInt8] = []
        func drain() {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            let count = read(ends[0], &buffer, buffer.count)
            output += buffer.prefix(max(0, count))
        }
        let many = (0..<1000).map { entry("read", id: "\($0)") }
        for _ in 0..<2 {
            #expect(throws: FileError.self) { try file.append(many) }
            drain()
        }
        try file.append([entry("end")])
        drain()
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        let report = verify(lines)
        #expect(report.fault == nil && report.incomplete <= 2 && report.lines == lines.count)
        #expect(lines.last?.contains(#""action":"end""#) == true)
    }

    @Test func `A line that was not completed stays, and the next one has its hash`() throws {
        try withFolder { path in
            try AuditFile(path: path).append([entry("a")])
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(#"{"time":"2026-01-01T0"#.utf8))
            try handle.close()
            try AuditFile(path: path).append([entry("b")])
            let report = verify(try lines(path))
            #expect(report.fault == nil && report.lines == 3 && report.incomplete == 1)
        }
    }

    @Test func `What cannot be an audit log is refused and not changed`() throws {
        try withFolder { path in
            try Data("root:x:0:0\n".utf8).write(to: URL(filePath: path))
            #expect(throws: FileError.self) { try AuditFile(path: path) }
            #expect(try FileContent(path: path).text == "root:x:0:0\n")
            let folder = (path as NSString).deletingLastPathComponent
            let messages = [folder, folder + "/none/audit.log", "/dev/null"].map { path in
                #expect(throws: FileError.self) { try AuditFile(path: path) }?.message ?? ""
            }
            #expect(messages[0].contains("folder") && messages[1].contains("Create it"))
            #expect(messages[2].contains("regular file"))
        }
    }

    @Test func `A file that cannot be written is an error, and writing goes on when it can`() throws {
        try withFolder { path in
            let file = try AuditFile(path: path)
            try file.append([entry("a")])
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(throws: FileError.self) { try file.append([entry("b")]) }
            try FileManager.default.removeItem(atPath: path)
            try file.append([entry("c")])
            let report = verify(try lines(path + ".1", path))
            #expect(report.fault == nil && report.lines == 2)
        }
    }

    @Test func `Long texts are cut, and control characters are escaped`() throws {
        try withFolder { path in
            try AuditFile(path: path).append([entry("a", id: "a\nb\u{1B}" + String(repeating: "x", count: 5000))])
            let lines = try lines(path)
            #expect(lines.count == 1 && lines[0].utf8.count < 600)
            #expect(lines[0].contains(#"a\nb\u001b"#) || lines[0].contains(#"a\nb\u001B"#))
        }
        // One character of 10,001 bytes.
        try withFolder { path in
            try AuditFile(path: path).append([entry("a", id: "e" + String(repeating: "\u{301}", count: 5000))])
            #expect(try lines(path)[0].utf8.count < 600)
        }
    }
}
