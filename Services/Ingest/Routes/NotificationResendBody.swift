import SecurePushCore

/// The answer to `POST /api/notifications/{id}/resend`: the platforms that are owed again, those included that were
/// owed still.
struct NotificationResendBody {
    let id: NotificationID
    let platforms: [Platform]

    /// `{"Id":"…","Platforms":["apple"]}`.
    var bytes: [UInt8] {
        let names = platforms.map { JSONText.quoted($0.rawValue) }.joined(separator: ",")
        return Array(#"{"Id":"\#(id)","Platforms":[\#(names)]}"#.utf8)
    }
}
