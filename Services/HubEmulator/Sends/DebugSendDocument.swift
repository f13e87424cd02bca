/// The answer to a debug send: what became of it at each device, elements in the order that the .NET client reads.
enum DebugSendDocument {
    static func make(_ receipt: NotificationIntake.Receipt) -> String {
        let results = receipt.record.results
        let successes = results.count { $0.outcome == .success }
        var output =
            "<NotificationOutcome xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\">"
            + "<Success>\(successes)</Success><Failure>\(results.count - successes)</Failure><Results>"
        for (result, target) in zip(results, receipt.targets) {
            let handle = XMLWriter.escape(result.handle)
            let id = XMLWriter.escape(target.registrationID ?? "")
            output +=
                "<RegistrationResult><ApplicationPlatform>\(result.format.rawValue)</ApplicationPlatform>"
                + "<PnsHandle>\(handle)</PnsHandle><RegistrationId>\(id)</RegistrationId>"
                + "<Outcome>\(result.outcome.sentence)</Outcome></RegistrationResult>"
        }
        return output + "</Results></NotificationOutcome>"
    }
}
