package import Foundation
package import SignalboxNotification
package import SignalboxStore

extension PostgresStore {
    package func heldCounts() async throws(StoreError) -> [DestinationName: Int] { throw .unavailable(reason: "absent") }
    package func mediaGauges() async throws(StoreError) -> MediaGauges { throw .unavailable(reason: "absent") }
    package func mediaFiles(after: MediaFileRecord?, limit: Int) async throws(StoreError) -> [MediaFileRecord] { throw .unavailable(reason: "absent") }
    package func mediaFiles(numberedAfter number: Int64, limit: Int) async throws(StoreError) -> [MediaFileRecord] { throw .unavailable(reason: "absent") }
    package func mediaURLs( _ states: Set<MediaURLRecord.State>, before: Int64?, limit: Int ) async throws(StoreError) -> [MediaURLRecord] { throw .unavailable(reason: "absent") }
    package func mediaURLs(named urls: [String]) async throws(StoreError) -> [MediaURLRecord] { throw .unavailable(reason: "absent") }
    package func removeMedia( beyond retention: MediaRetention, pause: () async -> Void, gone: ([String]) async -> Void ) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func forgetMedia(_ digests: [String]) async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func mediaBytes() async throws(StoreError) -> Int64 { throw .unavailable(reason: "absent") }
    package func knownFiles(of digests: [String]) async throws(StoreError) -> Set<String> { throw .unavailable(reason: "absent") }
    package func openMedia(wake: @escaping @Sendable () -> Void) async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func dueMedia( upTo limit: Int, perHost: Int, busy: [String: Int], excluding: Set<Int64> ) async throws(StoreError) -> [MediaJob] { throw .unavailable(reason: "absent") }
    package func nextMediaDue() async throws(StoreError) -> Date? { throw .unavailable(reason: "absent") }
    package func settle(media settlement: MediaSettlement) async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func heldDeliveries(upTo limit: Int) async throws(StoreError) -> [HeldDelivery] { throw .unavailable(reason: "absent") }
    package func nextMediaUntil() async throws(StoreError) -> Date? { throw .unavailable(reason: "absent") }
    package func release(_ releases: [MediaRelease]) async throws(StoreError) { throw .unavailable(reason: "absent") }
}
