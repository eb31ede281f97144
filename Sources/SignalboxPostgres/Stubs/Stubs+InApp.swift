package import SignalboxInApp
package import SignalboxStore

extension PostgresStore {
    package func openInApp(onChange: @escaping @Sendable ([StoredInAppMessage]) -> Void) {  }
    package func decide<Result: Sendable>( about subject: InAppSubject, tallies: [MessageID], _ step: @escaping @Sendable (InAppRows) -> InAppStep<Result>, whenDone done: @escaping @Sendable (Swift.Result<Result, StoreError>) -> Void) {  }
    package func rows(of subject: InAppSubject, tallies: [MessageID]) async throws(StoreError) -> InAppRows { throw .unavailable(reason: "absent") }
    package func register( _ message: InAppRegistration, as action: OperatorAction? ) async throws(StoreError) -> StoredInAppMessage { throw .unavailable(reason: "absent") }
    package func withdraw( message id: MessageID, as action: OperatorAction? ) async throws(StoreError) -> StoredInAppMessage? { throw .unavailable(reason: "absent") }
    package func message(_ id: MessageID) async throws(StoreError) -> StoredInAppMessage? { throw .unavailable(reason: "absent") }
    package func messages( after id: MessageID?, upTo count: Int, includingWithdrawn: Bool ) async throws(StoreError) -> [StoredInAppMessage] { throw .unavailable(reason: "absent") }
    package func dueDevices(at now: Instant, upTo limit: Int) async throws(StoreError) -> [DeviceID] { throw .unavailable(reason: "absent") }
    package func nextInAppDue() async throws(StoreError) -> Instant? { throw .unavailable(reason: "absent") }
}
