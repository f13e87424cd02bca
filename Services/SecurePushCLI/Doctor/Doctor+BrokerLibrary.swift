import Foundation

extension Doctor {
    /// Checks that librabbitmq has the fixes of CVE-2026-44235, -44236, -59986 and -61547: Debian 12 since
    /// 0.11.0-1+deb12u3, upstream since 0.16.0.
    func library() async -> [Finding] {
        guard settings["AMQP_URL"] != nil, let version = Doctor.installedVersion() else { return [] }
        return [Doctor.library(version: version)]
    }

    static func library(version: String) -> Finding {
        let part = "librabbitmq"
        let numbers = version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").compactMap { Int($0) }
        if !numbers.lexicographicallyPrecedes([0, 16]) { return .ok(part, "\(version) has the fixes of 2026") }
        if let mark = version.firstRange(of: "+deb12u") {
            let update = Int(version[mark.upperBound...].prefix { $0.isNumber }) ?? 0
            if update >= 3 { return .ok(part, "\(version) has the fixes of 2026") }
        } else if version.contains("+deb") || version.contains("ubuntu") {
            return .ok(part, "\(version); see its changelog for the fixes of 2026")
        }
        return .warning(
            part, "\(version) lacks the fixes of CVE-2026-44235, -44236, -59986 and -61547",
            "Run apt-get update && apt-get install --only-upgrade librabbitmq4, or use 0.16.0 or newer.")
    }

    /// The version of the Debian package; `nil` on other systems.
    private static func installedVersion() -> String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/dpkg-query")
        process.arguments = ["--show", "--showformat=${Version}", "librabbitmq4"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = try? output.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        let version = String(decoding: data ?? Data(), as: UTF8.self)
        return process.terminationStatus == 0 && !version.isEmpty ? version : nil
    }
}
