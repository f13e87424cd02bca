#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An open folder, in which files are opened, made, replaced and removed by name, never by path.
///
/// A command of root may work in a folder that the user of a service owns. That user may put links and other files
/// there, at any moment. So root goes no way that such a user has laid:
///
/// - On the way to a folder, and in it, root follows a symbolic link only if no other user can have made it.
/// - A file in a folder that others can write to must be a regular file with one name (no hard link), and belong to the
///   owner of the folder or to root. A pipe or a device is refused, and never waited for.
/// - New files are created with `O_EXCL`. Mode and owner are set on the descriptor.
///
/// Other users than root have nothing to give away: for them folders are opened, and links followed, as usual.
package final class SafeFolder: Sendable {
    /// The folder as it was given, for messages.
    private let path: String
    private let descriptor: Int32
    private let status: stat

    /// Opens a folder.
    ///
    /// - Parameter creatingWith: the mode of folders that are missing and are made; `nil` makes none.
    /// - Throws: ``FileError`` with the path of the folder.
    package init(path: String, creatingWith mode: UInt32? = nil) throws(FileError) {
        let place = try FolderWalk.open(path, creatingWith: mode)
        (self.path, descriptor, status) = (path, place.descriptor, place.status)
    }

    deinit { closeDescriptor(descriptor) }

    /// The folder of a file, and the name of the file in it. Symbolic links to the file are followed.
    ///
    /// - Parameter creatingWith: the mode of folders that are missing and are made; `nil` makes none.
    /// - Throws: ``FileError``, also for a link that root does not follow.
    package static func find(
        _ path: String, creatingWith mode: UInt32? = nil
    ) throws(FileError) -> (folder: SafeFolder, name: String) {
        var path = path
        for _ in 0..<FolderWalk.maxLinks {
            let (place, name) = split(path)
            let folder = try SafeFolder(path: place, creatingWith: mode)
            guard let target = try FolderWalk.target(of: name, in: folder.descriptor, folder.status, path: path) else {
                return (folder, name)
            }
            path = target.utf8.first == UInt8(ascii: "/") ? target : folder.place(target)
        }
        throw FileError(errno: ELOOP, path: path)
    }

    /// The path of the folder of a file, and the name of the file in it.
    package static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = path[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(path[path.utf8.index(after: slash)...]))
    }

    /// The names of a path, the last one first. By bytes, as the system reads them: a slash and an accent after it are
    /// one character to Swift, and a name with a slash inside would be looked up without the checks of each step.
    static func components(_ path: String) -> [Substring] {
        OutsideText.parts(path, at: "/").filter { !$0.isEmpty }.reversed()
    }

    var owner: FileOwner { FileOwner(status) }

    // MARK: Files

    /// Opens a regular file; a symbolic link is not followed.
    ///
    /// - Parameter flags: of `open(2)`, such as `O_RDONLY`.
    /// - Returns: a descriptor, which the caller closes; `nil` if there is no file.
    /// - Throws: ``FileError`` if it is something else, or cannot be opened.
    func open(_ name: String, _ flags: Int32) throws(FileError) -> Int32? {
        // Without O_NONBLOCK a pipe, or a lease of another process, would hold the caller.
        let file = openFile(descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(errno, name)
        }
        do {
            try check(file, name)
        } catch {
            closeDescriptor(file)
            throw error
        }
        return file
    }

    /// Checks a file that another library opens by its path.
    ///
    /// - Throws: ``FileError`` if there is a file that ``read(_:)`` would refuse.
    package func checkFile(_ name: String) throws(FileError) {
        if let file = try open(name, O_RDONLY) { closeDescriptor(file) }
    }

    /// Makes a file that does not exist yet.
    ///
    /// - Returns: a descriptor, which the caller closes; `nil` if there is anything of this name.
    func create(_ name: String, _ flags: Int32, mode: UInt32) throws(FileError) -> Int32? {
        let file = createFile(descriptor, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        guard file < 0 else { return file }
        if errno == EEXIST { return nil }
        throw failure(errno, name)
    }

    /// Reads a file, and tells whom it belongs to; `nil` if there is no file.
    package func read(_ name: String) throws(FileError) -> (content: FileContent, owner: FileOwner)? {
        guard let file = try open(name, O_RDONLY) else { return nil }
        defer { closeDescriptor(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure(errno, name) }
        return (try FileContent(descriptor: file, path: place(name)), FileOwner(status))
    }

    /// Makes a file with this text, unless there is anything of its name.
    ///
    /// - Returns: whether it was made.
    package func make(_ name: String, with text: String, mode: UInt32) throws(FileError) -> Bool {
        guard let file = try create(name, O_WRONLY, mode: 0o600) else { return false }
        defer { closeDescriptor(file) }
        do {
            try write(text, to: file, name, mode)
        } catch {
            unlinkat(descriptor, name, 0)
            throw error
        }
        synchronize()
        return true
    }

    /// Replaces a file or a link as a whole.
    ///
    /// - Parameter owner: who gets the new file; `nil` for the user of the process.
    package func replace(
        _ name: String, with text: String, mode: UInt32, owner: FileOwner? = nil
    ) throws(FileError) {
        var random = SystemRandomNumberGenerator()
        let temporary = "\(name).\(String(random.next(), radix: 36))"
        guard let file = try create(temporary, O_WRONLY, mode: 0o600) else { throw failure(EEXIST, name) }
        var isRenamed = false
        defer { if !isRenamed { unlinkat(descriptor, temporary, 0) } }
        do {
            defer { closeDescriptor(file) }
            // Only root can give a file away; for others the file is theirs already.
            if let owner { _ = fchown(file, owner.user, owner.group) }
            try write(text, to: file, name, mode)
        }
        guard renameat(descriptor, temporary, descriptor, name) == 0 else { throw failure(errno, name) }
        isRenamed = true
        synchronize()
    }

    /// Removes a file or a link, but no folder. It is no error if there is none.
    package func remove(_ name: String) throws(FileError) {
        guard unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
        throw failure(errno, name)
    }

    /// The file or link of a name, without following it; `nil` if there is none.
    func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Whether a path leads to this folder. It needs no descriptor, so it works when the process has used up its
    /// descriptors.
    func isAt(_ path: String) -> Bool {
        var named = stat()
        return stat(path, &named) == 0 && named.st_dev == status.st_dev && named.st_ino == status.st_ino
    }

    /// Opens the folder itself, for its lock or its list.
    ///
    /// - Returns: a descriptor, which the caller closes.
    package func openItself() throws(FileError) -> Int32 {
        let folder = openFile(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(errno, ".") }
        return folder
    }

    /// Puts a new name on the disk.
    private func synchronize() {
        guard let folder = try? openItself() else { return }
        _ = fsync(folder)
        closeDescriptor(folder)
    }

    /// - Throws: ``FileError`` unless the file is a regular one, and one that root may use in this folder.
    private func check(_ file: Int32, _ name: String) throws(FileError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure(errno, name) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure(ENXIO, name) }
        guard FolderWalk.isForeign(self.status) else { return }
        guard status.st_nlink <= 1 else {
            throw FileError(
                .unreadable, path: place(name),
                "The file has a second name (hard link). Remove it, or name another file.")
        }
        guard status.st_uid == owner.user || status.st_uid == 0 else {
            throw FileError(
                .unreadable, path: place(name), "The file belongs neither to the owner of its folder nor to root.")
        }
    }

    private func write(_ text: String, to file: Int32, _ name: String, _ mode: UInt32) throws(FileError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes(file, $0) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw failure(errno, name) }
        }
        guard fchmod(file, mode_t(mode)) == 0, fsync(file) == 0 else { throw failure(errno, name) }
    }

    private func place(_ name: String) -> String { path == "." ? name : path == "/" ? "/" + name : "\(path)/\(name)" }

    private func failure(_ number: Int32, _ name: String) -> FileError { FileError(errno: number, path: place(name)) }
}

/// The user and the group that own a file.
package struct FileOwner: Sendable, Hashable {
    let user: uid_t
    let group: gid_t

    init(_ status: stat) { (user, group) = (status.st_uid, status.st_gid) }
}

/// The way to a folder, name by name.
private struct FolderWalk {
    let path: String
    var descriptor: Int32
    var status = stat()
    var rest: [Substring]
    var links = 0

    static let maxLinks = 40

    static func open(
        _ path: String, creatingWith mode: UInt32?
    ) throws(FileError) -> (descriptor: Int32, status: stat) {
        let start = openFolder(AT_FDCWD, path.utf8.first == UInt8(ascii: "/") ? "/" : ".")
        guard start >= 0 else { throw FileError(errno: errno, path: path) }
        var walk = FolderWalk(path: path, descriptor: start, rest: SafeFolder.components(path))
        do {
            try walk.go(mode)
        } catch {
            closeDescriptor(walk.descriptor)
            throw error
        }
        return (walk.descriptor, walk.status)
    }

    /// Whether this process is root, and others than root can write to the folder.
    static func isForeign(_ folder: stat) -> Bool {
        // Write permission of others, and of a group that is not root's.
        geteuid() == 0
            && (folder.st_uid != 0 || folder.st_mode & 0o002 != 0
                || (folder.st_mode & 0o020 != 0 && folder.st_gid != 0))
    }

    /// The target of a symbolic link; `nil` if the name is no link.
    ///
    /// - Throws: ``FileError`` if this process is root, and another user can have made the link.
    static func target(
        of name: String, in folder: Int32, _ status: stat, path: String
    ) throws(FileError) -> String? {
        var link = stat()
        guard fstatat(folder, name, &link, AT_SYMLINK_NOFOLLOW) == 0, link.st_mode & S_IFMT == S_IFLNK else {
            return nil
        }
        if isForeign(status) {
            // In a folder like /tmp (sticky) nobody but root can put another link in the place of root's.
            guard status.st_uid == 0, status.st_mode & 0o1000 != 0, link.st_uid == 0 else {
                throw FileError(
                    .malformed, path: path, "The path leads through a symbolic link that another user can change.")
            }
        }
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readLink(folder, name, &target)
        guard count > 0, count < target.count else { throw FileError(errno: ELOOP, path: path) }
        return String(decoding: target[..<count], as: UTF8.self)
    }

    private mutating func go(_ mode: UInt32?) throws(FileError) {
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        while let name = rest.popLast().map(String.init) {
            if let target = try Self.target(of: name, in: descriptor, status, path: path) {
                links += 1
                guard links <= Self.maxLinks else { throw failure(ELOOP) }
                rest += SafeFolder.components(target)
                if target.utf8.first == UInt8(ascii: "/") { try enter(openFolder(AT_FDCWD, "/")) }
                continue
            }
            var next = openFolder(descriptor, name)
            if next < 0, errno == ENOENT, let mode {
                guard mkdirat(descriptor, name, mode_t(mode)) == 0 || errno == EEXIST else { throw failure(errno) }
                next = openFolder(descriptor, name)
            }
            try enter(next)
        }
    }

    private mutating func enter(_ next: Int32) throws(FileError) {
        guard next >= 0 else { throw failure(errno) }
        closeDescriptor(descriptor)
        descriptor = next
        guard fstat(next, &status) == 0 else { throw failure(errno) }
    }

    private func failure(_ number: Int32) -> FileError { FileError(errno: number, path: path) }
}

extension FileError {
    /// The error for a value of `errno`, of a file that cannot be opened, made or written.
    init(errno number: Int32, path: String) {
        switch number {
        case ENOENT, ENOTDIR: self.init(.missing, path: path, "The folder does not exist. Create it.")
        case EACCES, EPERM:
            self.init(.unreadable, path: path, "This process has no permission for the file. Give its user permission.")
        case EISDIR: self.init(.malformed, path: path, "This is a folder. Name a file in it.")
        case ELOOP: self.init(.malformed, path: path, "This is a symbolic link. Name the file itself.")
        case ENOSPC, EDQUOT: self.init(.unreadable, path: path, "There is no space left.")
        case ENXIO: self.init(.malformed, path: path, "This is not a regular file. Name another one.")
        default: self.init(.unreadable, path: path, "The file cannot be used: \(String(cString: strerror(number))).")
        }
    }
}

// The system's functions, outside of the types whose methods have the same names.

/// A folder on the way need not be readable: `O_PATH`, which Swift's Glibc module leaves out.
private func openFolder(_ folder: Int32, _ name: String) -> Int32 {
    #if canImport(Glibc)
    openat(folder, name, 0o10000000 | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    #else
    openat(folder, name, O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    #endif
}

private func openFile(_ folder: Int32, _ name: String, _ flags: Int32) -> Int32 { openat(folder, name, flags) }

private func createFile(_ folder: Int32, _ name: String, _ flags: Int32, _ mode: UInt32) -> Int32 {
    openat(folder, name, flags, mode)
}

private func readLink(_ folder: Int32, _ name: String, _ target: inout [UInt8]) -> Int {
    target.withUnsafeMutableBytes { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
            characters.baseAddress.map { readlinkat(folder, name, $0, characters.count) } ?? -1
        }
    }
}

private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
