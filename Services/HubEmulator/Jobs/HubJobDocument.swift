/// The Atom answers about jobs, with elements in the order in which the .NET client reads them.
enum HubJobDocument {
    /// - Parameter isNew: whether it answers the POST: the job has no `Status` then, as recorded.
    static func entry(_ job: HubJob, path: String, isNew: Bool, call: HubCall) -> String {
        var output = ""
        write(job, path: path, isNew: isNew, call: call, to: &output)
        return output
    }

    static func feed(_ jobs: [HubJob], call: HubCall) -> String {
        let url = XMLWriter.escape(call.requestLocation("jobs"))
        var output =
            "<feed xmlns=\"\(XMLNamespace.atom)\"><title type=\"text\">jobs</title><id>\(url)</id>"
            + "<updated>\(WireTime.now.rfc3339Seconds)</updated><link rel=\"self\" href=\"\(url)\"/>"
        for job in jobs { write(job, path: "jobs/\(job.id)", isNew: false, call: call, to: &output) }
        return output + "</feed>"
    }

    private static func write(_ job: HubJob, path: String, isNew: Bool, call: HubCall, to output: inout String) {
        let url = XMLWriter.escape(call.location(path))
        let time = job.createdAt.rfc3339Seconds
        output +=
            "<entry xmlns=\"\(XMLNamespace.atom)\"><id>\(url)</id><title type=\"text\">\(job.id)</title>"
            + "<published>\(time)</published><updated>\(time)</updated><link rel=\"self\" href=\"\(url)\"/>"
            + "<content type=\"application/xml\"><\(HubJob.elementName) xmlns=\"\(XMLNamespace.connect)\""
            + " xmlns:i=\"\(XMLNamespace.instance)\"><JobId>\(job.id)</JobId><Type>\(job.kind.rawValue)</Type>"
        if !isNew { output += "<Status>Failed</Status>" }
        output += "<OutputContainerUri>\(XMLWriter.escape(job.outputContainerURI))</OutputContainerUri>"
        if let file = job.importFileURI { output += "<ImportFileUri>\(XMLWriter.escape(file))</ImportFileUri>" }
        if let properties = job.inputProperties {
            XMLWriter.write(properties, parentNamespace: XMLNamespace.connect, to: &output)
        }
        if !isNew { output += "<Failure>\(XMLWriter.escape(HubJob.failure))</Failure>" }
        output +=
            "<CreatedAt>\(job.createdAt.rfc3339)</CreatedAt><UpdatedAt>\(job.createdAt.rfc3339)</UpdatedAt>"
            + "</\(HubJob.elementName)></content></entry>"
    }
}
