package import SignalboxNotification
package import SignalboxStore

extension PostgresStore {
    package func openLane(_ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void) {  }
    package func closeLane(_ destination: DestinationName) async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func claim(from destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease] { throw .unavailable(reason: "absent") }
    @discardableResult package func settle(_ settlement: Settlement) async throws(StoreError) -> SettlementResult { throw .unavailable(reason: "absent") }
    package func giveBackFresh() async throws(StoreError) { throw .unavailable(reason: "absent") }
    @discardableResult package func tick() async throws(StoreError) -> [DestinationName] { throw .unavailable(reason: "absent") }
    package func wakeAll() {  }
    package func readingNumber(of destination: DestinationName) -> Int? { nil }
    package func isActive(_ destination: DestinationName) -> Bool { false }
    package func isWithheld(by destination: DestinationName) -> Bool { false }
    package func withhold(_ reason: String, by destination: DestinationName) async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func permit(by destination: DestinationName) async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func record(_ backoff: DestinationBackoff?, of destination: DestinationName) async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func forgetBackoffs() async throws(StoreError) { throw .unavailable(reason: "absent") }
}
