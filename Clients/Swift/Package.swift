// swift-tools-version: 6.0
import Foundation
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// CryptoKit is part of Apple's systems. This file is compiled on the machine that builds, so a package that is resolved
// on macOS has no dependency, and SwiftPM fetches nothing. With `.when(platforms:)` alone it would fetch swift-crypto.
#if canImport(Darwin)
let dependencies: [Package.Dependency] = []
let crypto: [Target.Dependency] = []
#else
let dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-crypto", "4.0.0"..<"5.0.0")
]
let crypto: [Target.Dependency] = [.product(name: "Crypto", package: "swift-crypto")]
#endif

// Apps must declare what their libraries collect and read. Elsewhere a resource would be a folder beside each program.
#if canImport(Darwin)
let privacyManifest = (exclude: [String](), resources: [Resource.copy("PrivacyInfo.xcprivacy")])
#else
let privacyManifest = (exclude: ["PrivacyInfo.xcprivacy"], resources: [Resource]())
#endif

let package = Package(
    name: "SecurePushClient",
    platforms: [.iOS(.v15), .macOS(.v12), .visionOS(.v1)],
    products: [
        .library(name: "SecurePushClient", targets: ["SecurePushClient"]),
        // For senders: end-to-end encryption without the rest.
        .library(name: "SecurePushEnvelope", targets: ["SecurePushEnvelope"]),
    ],
    dependencies: dependencies,
    targets: [
        .target(name: "SecurePushEnvelope", dependencies: crypto, swiftSettings: settings),
        .target(
            name: "SecurePushClient", dependencies: ["SecurePushEnvelope"] + crypto,
            exclude: privacyManifest.exclude, resources: privacyManifest.resources, swiftSettings: settings),
        .testTarget(
            name: "SecurePushEnvelopeTests", dependencies: ["SecurePushEnvelope"] + crypto, swiftSettings: settings),
        .testTarget(
            name: "SecurePushClientTests", dependencies: ["SecurePushClient", "SecurePushEnvelope"] + crypto,
            swiftSettings: settings),
        .testTarget(
            name: "FaultTableTests", dependencies: ["SecurePushClient", "SecurePushEnvelope"] + crypto,
            swiftSettings: settings),
    ]
)

// The command line has an HTTP client of its own. Without this file it needs no FoundationNetworking, which needs
// libcurl when Swift's libraries are linked statically. `make release` and the image set the variable.
if Context.environment["SECUREPUSH_STATIC"] != nil {
    for target in package.targets where target.name == "SecurePushClient" {
        target.exclude.append("Transport/URLSessionTransport.swift")
    }
}

// The image of the services is built without tests.
if !FileManager.default.fileExists(atPath: Context.packageDirectory + "/Tests") {
    package.targets.removeAll { $0.type == .test }
}
