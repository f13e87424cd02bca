/// What a device may show of a secret outside the app. The sender asks for it; the device obeys it.
package enum Display: String, Sendable, CaseIterable {
    /// The system gets the text.
    case full
    /// The system gets the text, and shows it only while the device is unlocked, where the platform can do that.
    case redacted
    /// The system never gets the text. Only the app shows it.
    case app
}
