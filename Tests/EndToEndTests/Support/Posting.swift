import Domain
import Foundation
import NIOHTTP1
import StackKit

/// Posts with some requests at once.
func post(_ count: Int, to ingest: RunningService, _ stack: Stack) async throws -> [NotificationID] {
    try await withThrowingTaskGroup(of: [NotificationID].self) { group in
        for start in stride(from: 0, to: count, by: 25) {
            group.addTask {
                var ids: [NotificationID] = []
                for number in start..<start + 25 {
                    ids.append(try await ingest.post("\(number)", to: "user\(number)", stack))
                }
                return ids
            }
        }
        return try await group.reduce(into: []) { $0 += $1 }
    }
}

/// Posts one after another until the service takes no more.
func postUntilRefused(_ ingest: RunningService, _ stack: Stack) async -> [NotificationID] {
    var ids: [NotificationID] = []
    let body = #"{"Recipient":"alice","Payload":1}"#
    while let answer = try? await ingest.request(.POST, "/api/notifications", bearer: stack.apiKey, body: body),
        answer.status == 201, let location = answer.headers.first(name: "Location"),
        let id = NotificationID(String(location.suffix(36)))
    {
        ids.append(id)
    }
    return ids
}

/// Whether the service has answered this many requests with 201, as its metrics tell.
func accepts(_ ingest: RunningService, _ count: Int) async throws -> Bool {
    let metrics = try await ingest.request(.GET, "/metrics").body
    let line = metrics.split(separator: "\n").first {
        $0.hasPrefix(#"securepush_notifications_accepted_total{caller="sender",result="created"} "#)
    }
    return line.flatMap { $0.split(separator: " ").last }.flatMap { Double($0) } ?? 0 >= Double(count)
}
