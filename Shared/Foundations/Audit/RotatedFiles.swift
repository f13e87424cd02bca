#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The files that a log's file was renamed to.
enum RotatedFiles {
    /// Entries of a folder that are looked at.
    private static let maxEntries = 10_000

    /// The name of the file in the folder that was written to last, whose name is that of the log with `.` or `-` and
    /// more behind it. Compressed files and links do not count.
    ///
    /// - Parameter left: a file that does not count, and neither do files that were last written to before it was.
    static func newest(of name: String, in folder: SafeFolder, since left: stat? = nil) -> String? {
        // The list takes the descriptor.
        guard let list = try? folder.openItself(), let directory = fdopendir(list) else { return nil }
        defer { closedir(directory) }
        var newest: (name: String, time: timespec)?
        for _ in 0..<maxEntries {
            guard let entry = readdir(directory) else { break }
            let found = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            guard found.hasPrefix(name + ".") || found.hasPrefix(name + "-"), !isCompressed(found),
                let status = folder.status(of: found), status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
            else { continue }
            if let left, left.st_ino == status.st_ino || status.modified < left.modified { continue }
            if let newest, status.modified < newest.time { continue }
            newest = (found, status.modified)
        }
        return newest?.name
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
