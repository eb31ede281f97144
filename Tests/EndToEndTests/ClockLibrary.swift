import Foundation
import Testing

/// A library that a process preloads to have another wall clock.
enum ClockLibrary {
    private static let source = Bundle.module.url(forResource: "Fixtures/clock", withExtension: "c")
    /// The compiler of the Swift toolchain, or another one.
    private static let compiler = ["clang", "cc", "gcc"].first { name in
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }
    /// Whether the library can be made here.
    static let isAvailable = compiler != nil

    /// Makes the library in `directory`; returns its path.
    static func make(in directory: String) throws -> String {
        let library = directory + "/clock.so"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            try #require(compiler), "-shared", "-fPIC", "-o", library, try #require(source).path,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return library
    }

    /// The environment of a process whose wall clock runs ahead by `seconds`, or behind. Makes the library in
    /// `directory`.
    static func environment(aheadBy seconds: Int, in directory: String) throws -> [String: String] {
        ["LD_PRELOAD": try make(in: directory), "SIGNALBOX_TEST_CLOCK_SHIFT": "\(seconds)"]
    }
}
