import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A small file that only its owner reads, replaced as a whole.
struct ProtectedFile: Sendable {
    let url: URL

    /// Reads the file; `nil` if there is none, or if it was too long and has been put aside.
    ///
    /// - Throws: ``ClientStoreError``.
    func read() throws -> Data? {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.error(of: errno, otherwise: .unreadable)
        }
        defer { close(descriptor) }
        var content = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw Self.error(of: errno, otherwise: .unreadable)
            }
            if count == 0 { return content }
            content.append(contentsOf: buffer[..<count])
            guard content.count <= Self.maxBytes else {
                putAside()
                return nil
            }
        }
    }

    /// Replaces the file: after a crash it has the old content or the new one.
    ///
    /// - Throws: ``ClientStoreError``.
    func write(_ data: Data) throws {
        let temporary = url.path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.error(of: errno, otherwise: .unwritable) }
        // Protected while it is empty.
        let isWritten = Self.protect(temporary) && Self.write(data, to: descriptor) && fsync(descriptor) == 0
        let problem = errno
        close(descriptor)
        guard isWritten, rename(temporary, url.path) == 0 else {
            unlink(temporary)
            throw Self.error(of: problem, otherwise: .unwritable)
        }
    }

    /// Adds to a file that is there. After a crash it may have a part of the bytes.
    ///
    /// - Throws: ``ClientStoreError``; then nothing has been added, as far as the disk allows it.
    func append(_ data: Data) throws {
        let descriptor = open(url.path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Self.error(of: errno, otherwise: .unwritable) }
        defer { close(descriptor) }
        let end = lseek(descriptor, 0, SEEK_END)
        if end >= 0, Self.write(data, to: descriptor), fsync(descriptor) == 0 { return }
        let problem = errno
        if end >= 0 { _ = ftruncate(descriptor, end) }
        throw Self.error(of: problem, otherwise: .unwritable)
    }

    /// Removes the file, if it is there.
    ///
    /// - Throws: ``ClientStoreError``.
    func remove() throws {
        guard unlink(url.path) == 0 || errno == ENOENT else { throw Self.error(of: errno, otherwise: .unwritable) }
    }

    /// Renames a damaged file and keeps it for an analysis. If that fails, the next write replaces it.
    func putAside() {
        _ = rename(url.path, url.path + ".damaged")
    }

    /// Creates a folder with mode 0700, if it is not there. Backups leave it out.
    ///
    /// - Throws: ``ClientStoreError``.
    static func createFolder(_ folder: URL) throws {
        if access(folder.path, F_OK) == 0 { return }
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            #if canImport(Darwin)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var container = folder
            try container.setResourceValues(values)
            #endif
        } catch {
            throw ClientStoreError.unwritable
        }
    }

    /// The error of a failed call. Before the first unlock, protected files cannot be opened (EPERM on Apple's
    /// systems).
    static func error(of code: Int32, otherwise error: ClientStoreError) -> ClientStoreError {
        #if canImport(Darwin) && !os(macOS)
        if code == EPERM { return .locked }
        #endif
        return error
    }

    private static func write(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = systemWrite(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            return true
        }
    }

    /// Makes the file unreadable until the first unlock, where the system can.
    private static func protect(_ path: String) -> Bool {
        #if canImport(Darwin) && !os(macOS)
        let level = FileProtectionType.completeUntilFirstUserAuthentication
        return (try? FileManager.default.setAttributes([.protectionKey: level], ofItemAtPath: path)) != nil
        #else
        return true
        #endif
    }

    /// The state of a thousand notifications takes about 130 KB.
    private static let maxBytes = 4 << 20
}

/// The functions of the C library, whose names the members above have too.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}

/// The current run of the system.
enum SystemBoot {
    /// A text that is different after each start of the system.
    @Sendable static func id() -> String {
        #if canImport(Darwin)
        var length = 0
        guard sysctlbyname("kern.bootsessionuuid", nil, &length, nil, 0) == 0, (1...128).contains(length) else {
            return "unknown"
        }
        var text = [CChar](repeating: 0, count: length)
        guard sysctlbyname("kern.bootsessionuuid", &text, &length, nil, 0) == 0 else { return "unknown" }
        let id = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        let id = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? "unknown"
        #endif
        return String(id.filter { $0.isLetter || $0.isNumber || $0 == "-" }.prefix(64))
    }
}
