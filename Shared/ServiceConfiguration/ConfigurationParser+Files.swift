#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension ConfigurationParser where Value == String {
    /// The path of a file that must be there and be readable now; a missing one is an error at start, not at first use.
    public static var existingFile: Self {
        ConfigurationParser(hint: "FILE") { path throws(ConfigurationRefusal) in
            var status = stat()
            guard stat(path, &status) == 0 else { throw ConfigurationRefusal("names a file that \(reason(errno))") }
            guard status.st_mode & S_IFMT != S_IFDIR else { throw ConfigurationRefusal("names a folder, not a file") }
            guard access(path, R_OK) == 0 else { throw ConfigurationRefusal("names a file that \(reason(errno))") }
            return path
        }
    }

    /// A path, whether or not something is there.
    public static var path: Self { string(hint: "FILE") }

    private static func reason(_ error: Int32) -> String {
        switch error {
        case ENOENT, ENOTDIR: "does not exist"
        case EACCES: "may not be read by this user"
        default: "cannot be opened (error \(error))"
        }
    }
}
