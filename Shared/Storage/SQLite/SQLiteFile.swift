import SecurePushCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file of a database, and its folder.
enum SQLiteFile {
    /// Makes the folders that are missing with mode 0700 and the file with 0600; SQLite gives its two side files the
    /// mode of the file. What is there already is left as it is, for its rights are the operator's.
    static func prepare(path: String) throws(StorageError) {
        try makeFolders(of: path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("The database file \(path) cannot be written to", errno) }
        close(descriptor)
    }

    private static func makeFolders(of path: String) throws(StorageError) {
        var folder = path.hasPrefix("/") ? "" : "."
        for name in path.split(separator: "/").dropLast() {
            folder += "/" + name
            if mkdir(folder, 0o700) != 0, errno != EEXIST, !isFolder(folder) {
                throw failure("The folder \(folder) for the database cannot be made", errno)
            }
        }
    }

    /// Making a folder that is there fails with other errors than `EEXIST` too, on a read-only disk for one.
    private static func isFolder(_ path: String) -> Bool {
        let number = errno
        defer { errno = number }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func failure(_ what: String, _ number: Int32) -> StorageError {
        StorageError(
            .invalid,
            "\(what): \(String(cString: strerror(number))). Name another path, or give this process's user the right.")
    }
}
