/// How much of a secret a device may show outside the app. The sender sets it, and the device follows it.
package enum Display: String, Sendable, CaseIterable {
    /// The system gets the text.
    case full
    /// The system gets the text, and shows it only while the device is unlocked, where the platform can do that.
    case redacted
    /// The system never gets the text. Only the app shows it.
    case app
}
