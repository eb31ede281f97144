import SignalboxStoreTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct PostgresStoreTests {
    @Test(arguments: StoreConformance.all(in: PostgresLocation.self)) func conforms(_ promise: StoreConformance)
        async throws
    {
        try await promise.run(in: PostgresLocation.self)
    }
}
