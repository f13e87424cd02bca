package import ServiceConfiguration
package import ServiceLifecycle
import Synchronization

/// A service that `securepush serve NAME` runs.
///
/// Decision: docs/decisions/0035-one-program.md
package protocol ServiceProgram: SendableMetatype {
    associatedtype Configuration: Sendable

    /// The name on the command line, in logs and in metrics.
    static var name: String { get }
    /// One sentence for `--help`.
    static var summary: String { get }
    /// Whether the service makes spans, and has the settings for them.
    static var isTraced: Bool { get }

    /// Reads the settings. It is also run on an empty environment: the keys that it reads are the service's settings,
    /// so none may be read only because another is set.
    ///
    /// - Returns: `nil` if something required is missing, with an issue in the reader.
    static func read(_ reader: inout ConfigurationReader) -> Configuration?

    /// Makes all services, those that others depend on first.
    ///
    /// - Throws: ``ConfigurationError`` for a setting that turns out to be unusable; the process then exits with 78.
    static func build(_ configuration: Configuration, context: ServiceContext) async throws -> [any Service]
}

/// The keys by program. The argument parser asks for them often; a debug build asks some dozen times at each start.
private let knownKeys = Mutex<[ObjectIdentifier: [any ConfigurationKeyDescription]]>([:])

extension ServiceProgram {
    package static var isTraced: Bool { true }

    /// The settings of the service, and those of logging and tracing, in the order of the help.
    package static var keys: [any ConfigurationKeyDescription] {
        if let known = knownKeys.withLock({ $0[ObjectIdentifier(self)] }) { return known }
        let keys = ConfigurationReader.keys { readAll(&$0) }
        knownKeys.withLock { $0[ObjectIdentifier(self)] = keys }
        return keys
    }

    /// Reads every setting. The issues are in the reader.
    @discardableResult
    package static func readAll(_ reader: inout ConfigurationReader) -> ServiceSettings<Configuration>? {
        let own = read(&reader)
        let tracing = isTraced ? TracingConfiguration.read(&reader) : nil
        let logging = LoggingConfiguration.read(&reader)
        let sources = reader
        return own.map { ServiceSettings(own: $0, logging: logging, tracing: tracing, sources: sources) }
    }
}

/// All settings of a service.
package struct ServiceSettings<Own: Sendable>: Sendable {
    var own: Own
    var logging: LoggingConfiguration
    /// `nil` if the service makes no spans, or nobody takes them.
    var tracing: TracingConfiguration?
    /// Knows under which names the settings were set.
    var sources: ConfigurationReader
    /// What an operator should correct, and can be worked with.
    var warnings: [ConfigurationIssue] = []
}
