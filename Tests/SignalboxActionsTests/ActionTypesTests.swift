import SignalboxActions
import Testing

@Suite struct ActionTypesTests {
    @Test func anySchemeIsAllowedUnlessTheConfigSaysOtherwise() {
        #expect(ActionTypes().schemes == nil)
    }
}
