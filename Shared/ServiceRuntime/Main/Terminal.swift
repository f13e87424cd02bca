#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The terminal, if there is one.
package enum Terminal {
    /// The width without a terminal, and of a terminal that does not tell it.
    package static let standardColumns = 80
    /// Longer lines of prose are hard to read.
    static let maxProseColumns = 100

    /// The number of columns of the terminal on a descriptor; `nil` if it is not a terminal. `COLUMNS` overrides
    /// the terminal's own number (POSIX.1-2024, 8.3).
    ///
    /// - Parameter environment: that of the process if `nil`.
    package static func columns(of descriptor: Int32, _ environment: [String: String]? = nil) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        if let columns = chosen(environment) { return columns }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return standardColumns }
        return Int(size.ws_col)
    }

    /// The width for help and usage: that of `COLUMNS`, else of the terminal on the descriptor, else 80; 100 at most.
    ///
    /// - Parameter environment: that of the process if `nil`.
    package static func proseColumns(of descriptor: Int32, _ environment: [String: String]? = nil) -> Int {
        min(chosen(environment) ?? columns(of: descriptor, environment) ?? standardColumns, maxProseColumns)
    }

    private static func chosen(_ environment: [String: String]?) -> Int? {
        let text = (environment ?? ProcessInfo.processInfo.environment)["COLUMNS"]
        return text.flatMap { Int($0) }.flatMap { (20...10_000).contains($0) ? $0 : nil }
    }
}
