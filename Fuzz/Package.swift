// swift-tools-version: 6.2

import PackageDescription

// A package of its own, like Benchmarks: every module that it builds is instrumented for libFuzzer and the address
// sanitizer, which nothing else should be. `make fuzz` passes the flags.
let package = Package(
    name: "signalbox-fuzz",
    dependencies: [.package(name: "signalbox", path: "..")],
    targets: [
        .executableTarget(
            name: "signalbox-fuzz",
            dependencies: [.product(name: "SignalboxMeasures", package: "signalbox")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ])
    ],
    swiftLanguageModes: [.v6]
)
