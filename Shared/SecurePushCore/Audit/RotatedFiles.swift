#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The files that a log's file was renamed to.
enum RotatedFiles {
    /// Entries of a folder that are looked at.
    private static let maxEntries = 10_000

    /// The file in the same folder that was written to last, whose name is that of the log with `.` or `-` and more
    /// behind it. Compressed files do not count.
    ///
    /// - Parameter left: a file that does not count, and neither do files that were last written to before it was.
    static func newest(of path: String, since left: stat? = nil) -> String? {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? path
        let folder = folder(of: path)
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
            if let left, left.st_ino == status.st_ino || status.modified < left.modified { continue }
            if let newest, status.modified < newest.time { continue }
            newest = (folder + found, status.modified)
        }
        return newest?.path
    }

    /// The folder of a file, with a slash at its end.
    static func folder(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast().joined(separator: "/") + (parts.count > 1 ? "/" : "./")
    }

    private static func isCompressed(_ name: String) -> Bool {
        [".gz", ".bz2", ".xz", ".zst"].contains { name.hasSuffix($0) }
    }
}

extension stat {
    /// When the file was last written to.
    fileprivate var modified: timespec {
        #if canImport(Glibc)
        st_mtim
        #else
        st_mtimespec
        #endif
    }
}

private func < (lhs: timespec, rhs: timespec) -> Bool { (lhs.tv_sec, lhs.tv_nsec) < (rhs.tv_sec, rhs.tv_nsec) }
