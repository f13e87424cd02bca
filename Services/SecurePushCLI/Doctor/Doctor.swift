/// Examines the parts of a system that there are settings for, one after another.
struct Doctor: Sendable {
    var settings: Settings

    func examine(_ report: (Finding) -> Void) async -> [Finding] {
        var all: [Finding] = []
        for check in [files, certificate, keySet, database, broker, library, hub, services] {
            let findings = await check()
            findings.forEach(report)
            all += findings
        }
        return all
    }
}
