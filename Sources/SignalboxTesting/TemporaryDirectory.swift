import Foundation

/// Runs `body` with the path of a new directory, and removes the directory afterwards. Rethrows the error of `body`.
/// A directory that cannot be removed is left behind.
package func withTemporaryDirectory<R>(_ body: (_ path: String) async throws -> R) async throws -> R {
    let path = NSTemporaryDirectory() + "signalbox-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
