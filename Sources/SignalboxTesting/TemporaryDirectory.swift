import Foundation

/// A directory of its own for one test, gone when the test is.
package func withTemporaryDirectory<R>(_ body: (_ path: String) async throws -> R) async throws -> R {
    let path = NSTemporaryDirectory() + "signalbox-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
