import Foundation
import Foundations

extension ErrorText {
    /// ``describe(_:)``, and of Foundation's errors the reason of the system: their own texts tell paths.
    static func reason(_ error: any Error) -> String {
        var cause = error as NSError
        for _ in 0..<4 {
            if cause.domain == NSPOSIXErrorDomain {
                return String(cString: strerror(Int32(truncatingIfNeeded: cause.code))).lowercased()
            }
            guard let deeper = cause.userInfo[NSUnderlyingErrorKey] as? any Error else { break }
            cause = deeper as NSError
        }
        return describe(error)
    }
}
