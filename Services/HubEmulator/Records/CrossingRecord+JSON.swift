import Foundation
import HTTPTypes

extension CrossingRecord: Encodable {
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
        case deliveries = "Deliveries"
        case outcome = "Outcome"
        case warnings = "Warnings"
        case fault = "Fault"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(sequence, forKey: .sequence)
        try container.encode(kind.rawValue, forKey: .kind)
        try container.encode(hub, forKey: .hub)
        try container.encodeIfPresent(format?.rawValue, forKey: .platform)
        try container.encodeIfPresent(tags, forKey: .tags)
        try container.encode(visibleHeaders, forKey: .headers)
        try container.encode(String(decoding: body, as: UTF8.self), forKey: .body)
        if String(validating: body, as: UTF8.self) == nil {
            try container.encode(Data(body).base64EncodedString(), forKey: .bodyBase64)
        }
        try container.encode(receivedAt.rfc3339, forKey: .receivedAt)
        try container.encode(deliveries, forKey: .deliveries)
        try container.encode(outcome.rawValue, forKey: .outcome)
        try container.encode(warnings, forKey: .warnings)
        try container.encodeIfPresent(fault, forKey: .fault)
    }

    /// All headers but the token, which is a secret.
    var visibleHeaders: [String: String] {
        var visible: [String: String] = [:]
        for field in headers where field.name != .authorization {
            visible[field.name.rawName] = visible[field.name.rawName].map { "\($0), \(field.value)" } ?? field.value
        }
        return visible
    }

    /// What the platform's push service would object to.
    var warnings: [String] {
        guard let format, kind == .send || kind == .direct else { return [] }
        var lowered: [String: String] = [:]
        for field in headers { lowered[field.name.canonicalName] = field.value }
        return PlatformRules.warnings(format: format, headers: lowered, body: body)
    }
}
