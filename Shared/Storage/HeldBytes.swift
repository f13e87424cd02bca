import SecurePushCore

// The memory that waiting changes hold, about: what bounds a group commit's queue (GroupCommitQueue.Capacity).

extension SealedNotification {
    var heldBytes: Int {
        let alert = (notification.alert?.title?.utf8.count ?? 0) + (notification.alert?.body?.utf8.count ?? 0)
        return 512 + payload.bytes.count + alert + notification.recipient.text.utf8.count
    }
}

extension KeyedAppend {
    var heldBytes: Int {
        notifications.reduce(512 + request.answer.body.count) { $0 + $1.heldBytes }
    }
}

extension SQLiteWrite {
    var heldBytes: Int {
        switch self {
        case .append(let sealed): sealed.heldBytes
        case .appendOnce(let notifications, let request, _):
            notifications.reduce(512 + request.answer.body.count) { $0 + $1.heldBytes }
        case .record(let outcome): 256 + outcome.deliveries.count * 256
        case .reopen(let change, _): 256 + change.new.utf8.count + (change.old?.utf8.count ?? 0)
        case .device(.lease(_, _, .claimed(let installation, _), now: _)): 512 + installation.document.count
        case .device(.end(_, .saveInstallation(let installation, _), now: _)): 512 + installation.document.count
        default: 512
        }
    }
}
