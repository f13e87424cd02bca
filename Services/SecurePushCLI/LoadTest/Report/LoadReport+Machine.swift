import Foundation
import SecurePushCore

extension LoadReport {
    /// The machine and the program that ran the load test. The services may run elsewhere.
    struct Machine: Codable, Sendable, Equatable {
        var system: String
        /// The model; `nil` if the system does not tell.
        var processor: String?
        var processors: Int
        var memoryBytes: Int
        var version: String
        /// Whether this program was compiled without optimisation, which makes it slower.
        var isDebugBuild: Bool

        private enum CodingKeys: String, CodingKey {
            case system = "System", processor = "Processor", processors = "Processors", memoryBytes = "MemoryBytes"
            case version = "Version", isDebugBuild = "IsDebugBuild"
        }

        init(version: String) {
            let process = ProcessInfo.processInfo
            system = process.operatingSystemVersionString
            processor = Machine.processorModel
            processors = process.activeProcessorCount
            memoryBytes = Int(clamping: process.physicalMemory)
            self.version = version
            #if DEBUG
            isDebugBuild = true
            #else
            isDebugBuild = false
            #endif
        }

        private static var processorModel: String? {
            guard let text = try? FileContent(path: "/proc/cpuinfo", maxBytes: 4 << 20).text else { return nil }
            let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
            return line.flatMap { $0.split(separator: ":", maxSplits: 1).last }
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}
