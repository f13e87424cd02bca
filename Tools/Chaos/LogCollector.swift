import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads what the services write, through a pipe for each, and keeps it in files. As a fault it stands still.
final class LogCollector: Sendable {
    private struct State {
        var streams: [String: (reader: Int32, writer: Int32, file: FileHandle)] = [:]
        var isReading = true
        var isEnded = false
    }

    private let folder: RunFolder
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "chaos.logs")

    /// What a service may write while nobody reads, in bytes: little, so that a few lines fill it.
    private static let pipeBytes: Int32 = 4096

    init(_ folder: RunFolder) {
        self.folder = folder
        readLater()
    }

    private func readLater() {
        queue.asyncAfter(deadline: .now() + .milliseconds(20)) { [weak self] in
            guard let self else { return }
            if state.withLock({ $0.isEnded }) { return }
            read()
            readLater()
        }
    }

    /// The pipe of a service, which stays the same over its restarts.
    func pipe(for name: String) throws -> URL {
        let url = folder.run.appending(path: "\(name).log")
        try state.withLock { state in
            guard state.streams[name] == nil else { return }
            unlink(url.path)
            guard mkfifo(url.path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            let reader = open(url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            // Without a writer of its own the pipe would end with the service.
            let writer = open(url.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            guard reader >= 0, writer >= 0 else { throw CocoaError(.fileReadUnknown) }
            #if canImport(Glibc)
            // F_SETPIPE_SZ, which Swift's Glibc module leaves out.
            _ = fcntl(reader, 1031, Self.pipeBytes)
            #endif
            let log = folder.logs.appending(path: "\(name).log")
            if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
            let file = try FileHandle(forWritingTo: log)
            try file.seekToEnd()
            state.streams[name] = (reader, writer, file)
        }
        return url
    }

    /// Stands still, or goes on.
    func setReading(_ isReading: Bool) { state.withLock { $0.isReading = isReading } }

    /// Reads the rest, once all services have ended.
    func end() {
        setReading(true)
        read()
        state.withLock { state in
            state.isEnded = true
            for stream in state.streams.values {
                close(stream.reader)
                close(stream.writer)
                try? stream.file.close()
            }
            state.streams = [:]
        }
    }

    private func read() {
        state.withLock { state in
            guard state.isReading else { return }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            for stream in state.streams.values {
                while case let count = readBytes(stream.reader, &buffer), count > 0 {
                    try? stream.file.write(contentsOf: buffer[..<count])
                }
            }
        }
    }
}

/// `read(2)`, outside of the type whose method has the same name.
private func readBytes(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int { read(descriptor, &buffer, buffer.count) }
