import CLibPQ

/// The C library that this module uses.
package enum PostgresLibrary {
    /// The version of libpq that is loaded, such as `17.2`.
    package static var version: String {
        // Since version 10, two digits more than four are the minor number (libpq, PQlibVersion).
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
