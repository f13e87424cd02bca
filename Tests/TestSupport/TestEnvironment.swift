package import Foundation

/// The servers that `scripts/with-servers.sh` started for this test run.
package enum TestEnvironment {
    package struct Missing: Error, CustomStringConvertible {
        package let variable: String
        package var description: String {
            "\(variable) is not set: run the tests by `make test`, or `scripts/with-servers.sh swift test`."
        }
    }

    /// The AMQP URL of the private RabbitMQ.
    package static var amqpURL: String { get throws { try value("SECUREPUSH_TEST_AMQP_URL") } }

    /// The libpq URI of the private PostgreSQL; its user may create databases.
    package static var databaseURL: String { get throws { try value("SECUREPUSH_TEST_DATABASE_URL") } }

    /// The root of the checkout, from where the tests run scripts.
    package static var packageRoot: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    }

    private static func value(_ variable: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[variable], !value.isEmpty else {
            throw Missing(variable: variable)
        }
        return value
    }
}
