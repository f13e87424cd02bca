import Foundations
import Logging
import NIOSSL
import OutgoingHTTP
import ServiceConfiguration
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The listener's certificate and key, read again when one of the files changes, and at SIGHUP.
///
/// In a service a thread of its own looks at the files (``watch()``), so that no connection waits for them. If the pair
/// cannot be used, for example because only one of the files was replaced so far, the last good pair stays in use.
final class CertificateStore: Sendable {
    /// Identifies one version of a file.
    private struct Version: Hashable {
        let inode: UInt64
        let size: Int64
        let modified: Int64
        let changed: Int64

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            #if canImport(Glibc)
            let (written, set) = (status.st_mtim, status.st_ctim)
            #else
            let (written, set) = (status.st_mtimespec, status.st_ctimespec)
            #endif
            modified = Int64(written.tv_sec) &* 1_000_000_000 &+ Int64(written.tv_nsec)
            changed = Int64(set.tv_sec) &* 1_000_000_000 &+ Int64(set.tv_nsec)
        }
    }

    private struct State {
        var configuration: TLSConfiguration
        /// Unix time in seconds at which the first certificate of the chain expires.
        var expiry: Int
        var generation = 0
        var versions: [Version?]
        var reported: [Version?]
        var nextCheck: ContinuousClock.Instant
        /// `nil` while nobody watches the files: then whoever asks looks at them, at most once per second.
        var watch: FileWatch?
        /// The next look reads the files, changed or not, and notes here how that ended.
        var isReloadWanted = false
        var lastReload = Result<Void, any Error>.success(())
    }

    private static let interval = Duration.seconds(1)

    private let files: HTTPConfiguration.TLS
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// - Parameter now: the clock; tests use another one.
    /// - Throws: ``ConfigurationError`` if the files cannot be used.
    init(
        _ files: HTTPConfiguration.TLS, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws {
        self.files = files
        self.logger = logger
        self.now = now
        let versions = Self.versions(files)
        let (configuration, expiry) = try files.load()
        state = Mutex(
            State(
                configuration: configuration, expiry: expiry, versions: versions, reported: versions,
                nextCheck: now() + Self.interval))
    }

    /// From now on a thread of its own looks at the files, as long as this object lives.
    func watch() {
        let watch = FileWatch("securepush.certificate") { [weak self] in self?.look() }
        state.withLock { $0.watch = watch }
        watch.start()
    }

    private func lookUnlessWatched() { if state.withLock({ $0.watch == nil }) { reloadIfChanged() } }

    /// The TLS settings to serve with, and a number that changes with them.
    var current: (configuration: TLSConfiguration, generation: Int) {
        lookUnlessWatched()
        return state.withLock { ($0.configuration, $0.generation) }
    }

    /// Unix time in seconds at which the certificate, or one of its chain, expires.
    var expiry: Int {
        lookUnlessWatched()
        return state.withLock { $0.expiry }
    }

    /// Reads the files now.
    ///
    /// - Throws: ``ConfigurationError``; the last good pair stays in use.
    func reload() throws {
        let versions = Self.versions(files)
        let (configuration, expiry) = try files.load()
        state.withLock { state in
            state.configuration = configuration
            state.expiry = expiry
            state.generation += 1
            state.versions = versions
        }
    }

    /// ``reload()`` on the thread that looks at the files: nobody waits for a file system that does not answer.
    ///
    /// - Throws: ``ConfigurationError``, also if the files have not been read within the time.
    func reloadInBackground(within time: Duration = .seconds(10)) async throws {
        let watch = state.withLock { state in
            state.isReloadWanted = state.watch != nil
            return state.watch
        }
        guard let watch else { return try reload() }
        guard await watch.look(within: time) else {
            throw ConfigurationError(
                ConfigurationKeys.tlsCertificateFile.name,
                "names a file that cannot be read, or \(ConfigurationKeys.tlsPrivateKeyFile.name) does: "
                    + "the file system does not answer")
        }
        try state.withLock { $0.lastReload }.get()
    }

    private func look() {
        let isWanted = state.withLock { state in
            defer { state.isReloadWanted = false }
            return state.isReloadWanted
        }
        guard isWanted else { return reloadIfChanged() }
        let result = Result { try reload() }
        state.withLock { $0.lastReload = result }
    }

    private func reloadIfChanged() {
        let time = now()
        let versions = Self.versions(files)
        let isDue = state.withLock { state in
            guard time >= state.nextCheck else { return false }
            state.nextCheck = time + Self.interval
            return versions != state.versions
        }
        guard isDue else { return }
        do {
            try reload()
            logger.info("Reloaded the TLS certificate", metadata: ["file": "\(files.certificateFile)"])
        } catch {
            let isNew = state.withLock { state in
                defer { state.reported = versions }
                return state.reported != versions
            }
            guard isNew else { return }
            logger.error(
                "The changed TLS certificate cannot be used; the last good one stays in use",
                metadata: [LogKeys.errorMessage: "\(error)"])
        }
    }

    private static func versions(_ files: HTTPConfiguration.TLS) -> [Version?] {
        [Version(files.certificateFile), Version(files.privateKeyFile)]
    }
}

extension HTTPConfiguration.TLS {
    /// TLS 1.2 and 1.3 with the certificate and key of the files, and the first expiry of the chain.
    ///
    /// - Throws: ``ConfigurationError`` if one of the files cannot be read, or the key belongs to another certificate.
    func load() throws -> (TLSConfiguration, expiry: Int) {
        let chain = try reading(ConfigurationKeys.tlsCertificateFile, "no PEM certificate") {
            try NIOSSLCertificate.certificates(inFile: certificateFile)
        }
        let key = try reading(ConfigurationKeys.tlsPrivateKeyFile, "no PEM private key") {
            let text = try FileContent(path: privateKeyFile).text
            _ = try PEMBlock.privateKey(in: text)
            return try NIOSSLPrivateKey(bytes: Array(text.utf8), format: .pem)
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        _ = try reading(ConfigurationKeys.tlsPrivateKeyFile, "not the key of the certificate") {
            try NIOSSLContext(configuration: configuration)
        }
        return (configuration, chain.map { Int($0.notValidAfter) }.min() ?? 0)
    }

    /// Whether a service can serve with the files.
    ///
    /// - Throws: ``ConfigurationError``, as a service does.
    package func check() throws { _ = try load() }

    private func reading<Value>(
        _ key: ConfigurationKey<String?>, _ problem: String, _ read: () throws -> Value
    ) throws -> Value {
        do {
            return try read()
        } catch let error as SetupError {
            throw ConfigurationError(key.name, "names a file that cannot be used: \(error.message)")
        } catch {
            throw ConfigurationError(key.name, "names a file that holds \(problem)")
        }
    }
}
