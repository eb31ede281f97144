// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

// The targets are in the order in which a payload meets them; docs/architecture.md says what each one is for.
// Versions are exact because Package.resolved is not committed.
let package = Package(
    name: "signalbox",
    products: [
        .executable(name: "signalbox", targets: ["signalbox"]),
        .library(name: "SignalboxMeasures", targets: ["SignalboxMeasures"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        // Without its support for swift-configuration.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: ["FullFoundation"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        // Swift needs a minute for array literals of the same texts. `#embed` is C23.
        .target(
            name: "CResources", cSettings: [.treatAllWarnings(as: .error), .disableWarning("c23-extensions")]),
        .target(
            name: "CSimdjson",
            cxxSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "SignalboxJSON", dependencies: ["CSimdjson"], swiftSettings: strict),
        .target(name: "SignalboxInApp", swiftSettings: strict),
        .target(
            name: "SignalboxNotification",
            dependencies: ["CResources", "SignalboxInApp", "SignalboxJSON"],
            exclude: [
                "Catalogue/catalogue-values.json", "Catalogue/catalogue-keys.json",
                "Catalogue/catalogue-more-keys.json", "Catalogue/catalogue-nested.json",
                "Catalogue/catalogue-more-nested.json", "Catalogue/catalogue-further.json",
                "Catalogue/detector-1.json", "Vendors/warnings.json",
            ],
            swiftSettings: strict),
        .target(
            name: "SignalboxConfig",
            dependencies: ["CResources", "SignalboxInApp", "SignalboxNotification", "SignalboxJSON"],
            exclude: ["Schema/patterns.json"], swiftSettings: strict),
        .target(
            name: "SignalboxRouting",
            dependencies: [
                "CResources", "SignalboxNotification", "SignalboxJSON", "SignalboxConfig",
                .product(name: "Mustache", package: "swift-mustache"),
            ],
            exclude: ["Samples"],
            swiftSettings: strict),
        .target(
            name: "SignalboxEgress", dependencies: ["CCurl", "COpenSSL", "SignalboxNotification"],
            swiftSettings: strict),
        .target(
            name: "SignalboxStore",
            dependencies: [
                "SignalboxInApp", "SignalboxNotification",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict),
        .target(
            name: "SignalboxSQLite",
            dependencies: [
                "CResources", "CSQLite", "SignalboxInApp", "SignalboxNotification", "SignalboxStore",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            exclude: ["Schema/migrations-1.sql", "Schema/migrations-2.sql"],
            swiftSettings: strict),
        .target(
            name: "SignalboxPostgres",
            dependencies: ["CPostgres", "CResources", "SignalboxInApp", "SignalboxNotification", "SignalboxStore"],
            exclude: [
                "Schema/core.sql", "Schema/operators.sql", "Schema/media.sql", "Schema/inapp.sql", "Schema/copies.sql",
            ],
            swiftSettings: strict),
        .target(
            name: "SignalboxGateway",
            dependencies: [
                "CResources", "CZlib", "CZstd", "SignalboxInApp", "SignalboxNotification", "SignalboxJSON",
                "SignalboxConfig", "SignalboxRouting", "SignalboxEgress", "SignalboxStore",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            exclude: ["Accept/Schemas", "InApp/Schemas", "Forward/Schemas"],
            swiftSettings: strict),
        .target(
            name: "SignalboxServer",
            dependencies: [
                "CResources", "SignalboxInApp", "SignalboxNotification", "SignalboxJSON", "SignalboxConfig",
                "SignalboxRouting", "SignalboxEgress", "SignalboxGateway", "SignalboxStore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["API/problems.json", "Console/Assets", "OpenAPI/Schemas"],
            swiftSettings: strict),
        .target(
            name: "SignalboxCommands",
            dependencies: [
                "CResources", "SignalboxInApp", "SignalboxNotification", "SignalboxJSON", "SignalboxConfig",
                "SignalboxRouting", "SignalboxEgress", "SignalboxGateway", "SignalboxServer", "SignalboxStore",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Local/starter.json", "Samples/payloads.json"], swiftSettings: strict),
        .executableTarget(
            name: "signalbox",
            dependencies: [
                "SignalboxCommands", "SignalboxInApp", "SignalboxNotification", "SignalboxJSON", "SignalboxConfig",
                "SignalboxRouting",
                "SignalboxEgress", "SignalboxGateway", "SignalboxPostgres", "SignalboxServer", "SignalboxSQLite",
                "SignalboxStore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .target(
            name: "SignalboxMeasures",
            dependencies: [
                "CPostgres", "SignalboxConfig", "SignalboxEgress", "SignalboxInApp", "SignalboxJSON",
                "SignalboxGateway",
                "SignalboxNotification", "SignalboxPostgres", "SignalboxRouting", "SignalboxSQLite", "SignalboxStore",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .target(
            name: "SignalboxTesting", dependencies: ["SignalboxInApp", "SignalboxJSON"], swiftSettings: strict),
        .target(
            name: "SignalboxStoreTesting",
            dependencies: ["SignalboxInApp", "SignalboxNotification", "SignalboxStore", "SignalboxTesting"],
            exclude: ["Postgres/server.sh", "Postgres/unprivileged.sh"], swiftSettings: strict),
        .target(
            name: "SignalboxServerTesting",
            dependencies: [
                "SignalboxServer", "SignalboxTesting", .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("Peer/peer.py"), .embedInCode("Peer/push-service.py"),
                .embedInCode("Peer/certificates.sh"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxPlatformsTests",
            dependencies: ["SignalboxNotification", "SignalboxJSON", "SignalboxTesting"],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxVendorsTests",
            dependencies: [
                "SignalboxNotification", "SignalboxJSON", "SignalboxTesting",
            ],
            resources: [.copy("Fixtures"), .copy("Samples"), .copy("Lookalikes")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxJSONTests", dependencies: ["SignalboxJSON", "SignalboxTesting"], swiftSettings: strict),
        .testTarget(
            name: "SignalboxModelTests", dependencies: ["SignalboxNotification", "SignalboxTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxActionsTests",
            dependencies: [
                "SignalboxNotification", "SignalboxEgress", "SignalboxJSON", "SignalboxTesting",
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxConfigTests",
            dependencies: [
                "SignalboxConfig", "SignalboxInApp", "SignalboxRouting", "SignalboxNotification", "SignalboxJSON",
                "SignalboxTesting",
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxRoutingTests",
            dependencies: [
                "SignalboxConfig", "SignalboxRouting", "SignalboxNotification", "SignalboxJSON", "SignalboxTesting",
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxInAppTests", dependencies: ["SignalboxInApp", "SignalboxTesting"], swiftSettings: strict),
        .testTarget(
            name: "SignalboxFormsTests",
            dependencies: [
                "SignalboxGateway", "SignalboxInApp", "SignalboxJSON", "SignalboxNotification", "SignalboxTesting",
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxPipelineTests",
            dependencies: [
                "SignalboxGateway", "SignalboxInApp", "SignalboxNotification", "SignalboxJSON",
                "SignalboxConfig", "SignalboxRouting", "SignalboxSQLite", "SignalboxStore", "SignalboxTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.copy("Fixtures"), .copy("Messages")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxInAppFlowTests",
            dependencies: [
                "SignalboxConfig", "SignalboxGateway", "SignalboxInApp", "SignalboxNotification", "SignalboxRouting",
                "SignalboxSQLite", "SignalboxStore", "SignalboxTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxEgressTests",
            dependencies: [
                "SignalboxEgress", "SignalboxNotification", "SignalboxServer", "SignalboxServerTesting",
                "SignalboxTesting",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxMediaTests",
            dependencies: [
                "SignalboxGateway", "SignalboxEgress", "SignalboxJSON", "SignalboxNotification",
                "SignalboxServerTesting",
                "SignalboxTesting",
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxStoreTests", dependencies: ["SignalboxStore", "SignalboxNotification", "SignalboxTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxSQLiteTests",
            dependencies: [
                "SignalboxInApp", "SignalboxSQLite", "SignalboxStore", "SignalboxNotification",
                "SignalboxStoreTesting", "SignalboxTesting",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxPostgresTests",
            dependencies: [
                "SignalboxInApp", "SignalboxPostgres", "SignalboxStore", "SignalboxNotification",
                "SignalboxStoreTesting", "SignalboxTesting",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxCopyTests",
            dependencies: [
                "SignalboxInApp", "SignalboxPostgres", "SignalboxSQLite", "SignalboxStore", "SignalboxNotification",
                "SignalboxStoreTesting", "SignalboxTesting",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxDeliveryTests",
            dependencies: [
                "CZlib", "SignalboxGateway", "SignalboxEgress", "SignalboxJSON", "SignalboxNotification",
                "SignalboxConfig", "SignalboxRouting",
                "SignalboxSQLite", "SignalboxServer", "SignalboxStore", "SignalboxServerTesting", "SignalboxTesting",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxForwardTests",
            dependencies: [
                "SignalboxGateway", "SignalboxConfig", "SignalboxEgress", "SignalboxJSON", "SignalboxNotification",
                "SignalboxRouting", "SignalboxSQLite", "SignalboxStore", "SignalboxServerTesting", "SignalboxTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxReplayTests",
            dependencies: [
                "SignalboxGateway", "SignalboxEgress", "SignalboxJSON", "SignalboxNotification", "SignalboxRouting",
                "SignalboxServerTesting", "SignalboxStore", "SignalboxTesting",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxServerTests",
            dependencies: [
                "SignalboxServer", "SignalboxConfig", "SignalboxEgress", "SignalboxNotification", "SignalboxGateway",
                "SignalboxStore", "SignalboxServerTesting", "SignalboxTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SignalboxProvidersTests",
            dependencies: [
                "SignalboxServer", "SignalboxConfig", "SignalboxEgress", "SignalboxGateway", "SignalboxJSON",
                "SignalboxNotification", "SignalboxRouting", "SignalboxSQLite", "SignalboxStore", "SignalboxTesting",
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "SignalboxCommandsTests",
            dependencies: [
                "SignalboxCommands", "SignalboxConfig", "SignalboxEgress", "SignalboxGateway", "SignalboxJSON",
                "SignalboxNotification", "SignalboxRouting", "SignalboxServer", "SignalboxServerTesting",
                "SignalboxSQLite", "SignalboxStore", "SignalboxTesting",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "signalbox", "SignalboxConfig", "SignalboxGateway", "SignalboxEgress", "SignalboxJSON",
                "SignalboxNotification", "SignalboxPostgres",
                "SignalboxServer", "SignalboxServerTesting", "SignalboxStoreTesting", "SignalboxTesting",
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
