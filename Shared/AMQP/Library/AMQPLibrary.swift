import CRabbitMQ

/// The C library that this module uses.
package enum AMQPLibrary {
    /// The version of librabbitmq that is loaded, such as `0.15.0`.
    package static var version: String { String(cString: amqp_version()) }
}
