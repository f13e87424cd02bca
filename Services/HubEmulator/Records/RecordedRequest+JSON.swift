import Foundation
import HTTPTypes

extension RecordedRequest: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id = "Id"
        case sequence = "Sequence"
        case kind = "Kind"
        case hub = "Hub"
        case platform = "Platform"
        case tags = "Tags"
        case headers = "Headers"
        case body = "Body"
        case bodyBase64 = "BodyBase64"
        case receivedAt = "ReceivedAt"
        case acceptedAt = "AcceptedAt"
        case completedAt = "CompletedAt"
        case dueAt = "DueAt"
        case deliveries = "Deliveries"
        case results = "Results"
        case outcomes = "Outcomes"
        case outcome = "Outcome"
        case accepted = "Accepted"
        case status = "Status"
        case warnings = "Warnings"
        case fault = "Fault"
        case faultIDs = "FaultIds"
        case requestID = "RequestId"
        case trackingID = "TrackingId"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(sequence, forKey: .sequence)
        try container.encode(kind.rawValue, forKey: .kind)
        try container.encode(hub, forKey: .hub)
        try container.encodeIfPresent(format?.rawValue, forKey: .platform)
        try container.encodeIfPresent(tags, forKey: .tags)
        try container.encode(headers.joined, forKey: .headers)
        try container.encode(String(decoding: body, as: UTF8.self), forKey: .body)
        if String(validating: body, as: UTF8.self) == nil {
            try container.encode(Data(body).base64EncodedString(), forKey: .bodyBase64)
        }
        try container.encode(warnings, forKey: .warnings)
        try container.encodeIfPresent(requestID, forKey: .requestID)
        try container.encodeIfPresent(trackingID, forKey: .trackingID)
        try encodeFate(to: &container)
    }

    private func encodeFate(to container: inout KeyedEncodingContainer<CodingKeys>) throws {
        try container.encode(receivedAt.rfc3339, forKey: .receivedAt)
        try container.encode(isAccepted, forKey: .accepted)
        if isAccepted { try container.encode(receivedAt.rfc3339, forKey: .acceptedAt) }
        try container.encodeIfPresent(completedAt?.rfc3339, forKey: .completedAt)
        try container.encodeIfPresent(dueAt?.rfc3339, forKey: .dueAt)
        try container.encodeIfPresent(answeredStatus, forKey: .status)
        try container.encode(deliveries, forKey: .deliveries)
        if kind.isSend {
            try container.encode(results.map(ResultDocument.init), forKey: .results)
            try container.encode(outcomes, forKey: .outcomes)
        }
        try container.encode(outcome.rawValue, forKey: .outcome)
        try container.encodeIfPresent(fault, forKey: .fault)
        if !faultIDs.isEmpty { try container.encode(faultIDs, forKey: .faultIDs) }
    }

    /// The counts by outcome, over all platforms.
    private var outcomes: [String: Int] {
        outcomeCounts.reduce(into: [:]) { $0[$1.outcome.rawValue, default: 0] += $1.count }
    }

    private struct ResultDocument: Encodable {
        let handle: String
        let platform: String
        let outcome: String

        init(_ result: DeliveryResult) {
            handle = result.handle
            platform = result.format.rawValue
            outcome = result.outcome.rawValue
        }

        private enum CodingKeys: String, CodingKey {
            case handle = "Handle"
            case platform = "Platform"
            case outcome = "Outcome"
        }
    }

    /// What the platform's push service would object to.
    var warnings: [String] {
        guard let format, kind.isSend else { return [] }
        var lowered: [String: String] = [:]
        for field in headers { lowered[field.name.canonicalName] = field.value }
        return PlatformRules.warnings(format: format, headers: lowered, body: body)
    }
}
