import SecurePushCore

extension HTTPLoadTarget {
    private struct State: Decodable {
        struct Delivery: Decodable {
            var State: String
            var UpdatedAt: String?
        }
        var Status: String
        var CreatedAt: String
        var Deliveries: [Delivery]?
    }

    private struct Page: Decodable {
        struct One: Decodable {
            var Id: String
            var Status: String
        }
        var Notifications: [One]
        var Next: String?
    }

    func state(of id: NotificationID) async throws -> PushedState {
        let state = try await get("/api/notifications/\(id)/status", as: State.self)
        guard let status = NotificationStatus(rawValue: state.Status),
            let createdAt = Timestamp(rfc3339: state.CreatedAt)
        else { throw HTTPLoadTarget.unreadable }
        let sent = (state.Deliveries ?? []).filter { $0.State == DeliveryState.sent.rawValue }
        return PushedState(
            createdAt: createdAt, status: status,
            sentAt: sent.compactMap { $0.UpdatedAt.flatMap { Timestamp(rfc3339: $0) } }.max())
    }

    func page(before id: NotificationID?) async throws -> PushedPage {
        let before = id.map { "&Before=\($0)" } ?? ""
        let page = try await get("/api/notifications?Limit=200\(before)", as: Page.self)
        let notifications = try page.Notifications.map { one in
            guard let id = NotificationID(one.Id), let status = NotificationStatus(rawValue: one.Status) else {
                throw HTTPLoadTarget.unreadable
            }
            return (id: id, status: status)
        }
        return PushedPage(notifications: notifications, next: page.Next.flatMap { NotificationID($0) })
    }

    private func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
        let answer = try await api.send(.get, path, authorization: authorization)
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: api.service) }
        guard let value = try? JSONText.decode(type, from: answer.body) else { throw HTTPLoadTarget.unreadable }
        return value
    }

    private static let unreadable = CommandFailure(
        .failed, "ingest's answer about a notification's status cannot be read",
        hint: "Are ingest and this program of the same version?")
}
