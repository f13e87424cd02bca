/// Who a send is for, read from its header before its body is looked at.
struct SendAddressing: Sendable {
    let kind: RecordedRequest.Kind
    let format: NotificationFormat
    /// The tags header as sent.
    let tags: String?
    /// Nil: everyone, or a direct send.
    let expression: TagExpression?

    /// - Parameters:
    ///   - format: the value of `ServiceBusNotification-Format`.
    ///   - tags: the value of `ServiceBusNotification-Tags`.
    /// - Throws: 400 that says what is wrong.
    init(kind: RecordedRequest.Kind, format: String?, tags: String?) throws(HubError) {
        guard let format = format.flatMap(NotificationFormat.init(header:)) else {
            throw HubError.badRequest("The ServiceBusNotification-Format header is missing or not known.")
        }
        let isToHandles = kind == .direct || kind == .batch
        expression = isToHandles ? nil : try TagExpression.parse(tags)
        guard !isToHandles || format != .template else {
            throw HubError.badRequest("A direct send takes the format of a platform, not template.")
        }
        self.kind = kind
        self.format = format
        self.tags = tags
    }
}
