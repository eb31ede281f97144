// swift-tools-version: 6.2

import PackageDescription

// A separate package, like Benchmarks: it builds every module with libFuzzer and the address sanitizer, which the
// product must not contain. `make fuzz` passes the flags.
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
