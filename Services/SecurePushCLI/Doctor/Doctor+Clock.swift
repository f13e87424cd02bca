import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SecurePushCore

extension Doctor {
    /// How far this machine's clock may be from the hub's: signatures are for a time, and a hub refuses those that
    /// have expired by its own clock.
    private static let tolerance = Duration.seconds(300)

    /// Compares this machine's clock with the hub's `Date` (RFC 9110, 6.6.1); nothing where it tells none.
    static func clock(at url: String) async -> Finding? {
        var request = HTTPClientRequest(url: url + "/")
        request.headers.add(name: "User-Agent", value: "securepush")
        guard let response = try? await APIClient.sharedClient.execute(request, timeout: .seconds(5)),
            let date = response.headers.first(name: "Date"), let time = hubTime(date)
        else { return nil }
        return clock(hub: time, here: .now)
    }

    static func clock(hub: Timestamp, here: Timestamp) -> Finding? {
        let skew = max(hub, here) - min(hub, here)
        guard skew > tolerance else { return nil }
        return .faulty(
            "clock", "this machine's clock is \(skew.spoken) \(here < hub ? "behind" : "ahead of") the hub's",
            "Set the clock by NTP (timedatectl set-ntp true); the hub refuses signatures of another time.")
    }

    /// The preferred form of an HTTP date, `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func hubTime(_ text: String) -> Timestamp? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text).map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
    }
}
