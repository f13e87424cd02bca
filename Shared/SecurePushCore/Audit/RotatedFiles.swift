#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The files that a log's file was renamed to.
enum RotatedFiles {
    /// Entries of a folder that are looked at.
    private static let maxEntries = 10_000

    /// The file in the same folder that was changed last, whose name is that of the log with `.` or `-` and more behind
    /// it. Compressed files do not count.
    static func newest(of path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let name = parts.last.map(String.init) ?? path
        let folder = parts.dropLast().joined(separator: "/") + (parts.count > 1 ? "/" : "./")
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        var newest: (path: String, time: timespec)?
        for _ in 0..<maxEntries {
            guard let entry = readdir(directory) else { break }
            let found = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            guard found.hasPrefix(name + ".") || found.hasPrefix(name + "-"), !isCompressed(found) else { continue }
            var status = stat()
            guard stat(folder + found, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
            else { continue }
            #if canImport(Glibc)
            let time = status.st_mtim
            #else
            let time = status.st_mtimespec
            #endif
            if let newest, (newest.time.tv_sec, newest.time.tv_nsec) >= (time.tv_sec, time.tv_nsec) { continue }
            newest = (folder + found, time)
        }
        return newest?.path
    }

    private static func isCompressed(_ name: String) -> Bool {
        [".gz", ".bz2", ".xz", ".zst"].contains { name.hasSuffix($0) }
    }
}
