import SecurePushCore

// The small numbers and lists as which some values are kept. They are in the database: never change one.

extension Presentation {
    var code: Int16 {
        switch self {
        case .silent: 0
        case .alert: 1
        }
    }

    init?(code: Int16) {
        switch code {
        case 0: self = .silent
        case 1: self = .alert
        default: return nil
        }
    }
}

extension Priority {
    var code: Int16 {
        switch self {
        case .normal: 0
        case .high: 1
        }
    }

    init?(code: Int16) {
        switch code {
        case 0: self = .normal
        case 1: self = .high
        default: return nil
        }
    }
}
