// swift-tools-version: 6.2

import PackageDescription

// A separate package: the dependencies of the benchmarks never reach the product. It measures the stages through
// SignalboxMeasures, and everything else as processes, from outside.
let package = Package(
    name: "signalbox-benchmarks",
    dependencies: [.package(name: "signalbox", path: "..")],
    targets: [
        .executableTarget(
            name: "signalbox-bench",
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
