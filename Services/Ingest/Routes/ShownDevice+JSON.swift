import Domain
import Foundations

extension ShownDevice {
    /// Writes an element of `Devices` of a status: `{"DeviceId","Platform","ShownAt","Text","Code"}`.
    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("DeviceId", deviceID)
            json.member("Platform", platform)
            json.member("ShownAt", shownAt.description)
            json.member("Text", report.text.rawValue)
            if let code = report.code { json.member("Code", code) }
        }
    }
}
