import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A random text in a file that counts only where it was made: the file has its own number in the file system, which
/// no backup carries to another device. The image of a disk does, so the machine's ID counts, too, where there is one
/// (Linux).
struct DeviceMark: Sendable {
    let url: URL
    /// See machine-id(5).
    var machineIDFile = "/etc/machine-id"

    /// The mark of this device. The first call makes it.
    ///
    /// - Throws: ``ClientStoreError``.
    func text() throws -> String {
        if let known = try known() { return known }
        let mark = UUID().uuidString
        unlink(url.path)
        let descriptor = open(url.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw ProtectedFile.error(of: errno, otherwise: .unwritable) }
        defer { close(descriptor) }
        let content = Data("\(mark) \(try place(of: descriptor))".utf8)
        let count = content.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count == content.count, fsync(descriptor) == 0 else { throw ClientStoreError.unwritable }
        return mark
    }

    private func known() throws -> String? {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw ProtectedFile.error(of: errno, otherwise: .unreadable)
        }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: Self.maxBytes)
        let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        let parts = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ").map(String.init)
        guard parts.count == 2, UUID(uuidString: parts[0]) != nil, parts[1] == (try place(of: descriptor))
        else { return nil }
        return parts[0]
    }

    /// Where the file is, without blanks.
    private func place(of descriptor: Int32) throws -> String {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw ClientStoreError.unreadable }
        let machine = ((try? String(contentsOfFile: machineIDFile, encoding: .utf8)) ?? "").filter(\.isHexDigit)
        return "\(info.st_ino)-\(machine.prefix(32))"
    }

    private static let maxBytes = 128
}
