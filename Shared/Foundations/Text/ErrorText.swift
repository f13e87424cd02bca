/// The description of an error that may be shown and logged.
///
/// Errors of libraries repeat their arguments: a header's value, a URL with its password, a line of a key file. So
/// their text is shown only where it is known to hold no value; all others are named by their type.
package enum ErrorText {
    /// The description of an error of SecurePush, whose texts hold no secrets, and of a few of libraries; of any other
    /// the name of its type.
    package static func describe(_ error: any Error) -> String {
        if error is CancellationError { return "it was cancelled" }
        let type = String(reflecting: type(of: error))
        let module = type.utf8.prefix { $0 != UInt8(ascii: ".") }
        let isShown = modules.contains(String(decoding: module, as: UTF8.self)) || known.contains(type)
        return isShown ? "\(error)" : "an error of the type \(type)"
    }

    /// Errors of libraries that tell a call of the system, its `errno`, a fault of TLS, or host and port.
    private static let known: Set<String> = [
        "NIOCore.IOError", "NIOCore.ChannelError", "NIOHTTP1.HTTPParserError", "NIOPosix.NIOConnectionError",
        "NIOSSL.BoringSSLError", "NIOSSL.NIOSSLError", "NIOSSL.NIOSSLExtraError", "ServiceLifecycle.ServiceGroupError",
    ]

    /// The modules of SecurePush. A test compares them with the package.
    static let modules: Set<String> = [
        "AMQP", "Authentication", "Dispatcher", "Domain", "Foundations", "Hub", "Ingest", "Messaging",
        "NotificationHubs", "Operator", "OutgoingHTTP", "Postgres", "PushServices", "Retrieval", "SecurePushCLI",
        "SecurePushClient",
        "SecurePushEnvelope", "ServiceConfiguration", "ServiceRuntime", "Storage", "ThreadExecutor",
    ]
}
