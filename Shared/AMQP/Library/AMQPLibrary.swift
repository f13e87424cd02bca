import CRabbitMQ

/// The C library that this module uses.
public enum AMQPLibrary {
    /// The version of librabbitmq that is loaded, such as `0.15.0`.
    public static var version: String { String(cString: amqp_version()) }
}
