/// The version of this program, and of the compiler that built it.
public enum SecurePushVersion {
    /// Semantic version of every product of this package.
    public static let current = "0.1.0"

    /// The Swift release that compiled this program, major and minor number.
    public static let swift: String = {
        #if compiler(>=6.5)
        "6.5 or newer"
        #elseif compiler(>=6.4)
        "6.4"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }()
}
