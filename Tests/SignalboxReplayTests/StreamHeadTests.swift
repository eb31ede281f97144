import Testing

@testable import SignalboxGateway

@Suite struct StreamHeadTests {
    private func head(of text: String, resuming earlier: InputIdentity = .standardInput) -> StreamHead {
        let head = StreamHead(resuming: earlier)
        Array(text.utf8).withUnsafeBytes { head.append($0) }
        return head
    }

    @Test func aNewRunAcceptsAnyText() throws {
        #expect(try head(of: "").isKnown(isEnd: false))
        #expect(try head(of: "{}").isKnown(isEnd: true))
    }

    @Test func aResumedRunWaitsForEnoughTextAndComparesIt() throws {
        let earlier = head(of: "one two").identity
        #expect(earlier.size == 7)
        #expect(try !head(of: "one", resuming: earlier).isKnown(isEnd: false))
        #expect(try head(of: "one two three", resuming: earlier).isKnown(isEnd: false))
        #expect(throws: ReplayError.self) { try head(of: "one ten", resuming: earlier).isKnown(isEnd: false) }
        #expect(throws: ReplayError.self) { try head(of: "one", resuming: earlier).isKnown(isEnd: true) }
    }

    @Test func theLongerBeginningIsSaved() {
        let earlier = head(of: "one two").identity
        #expect(head(of: "one", resuming: earlier).identity == earlier)
        #expect(head(of: "one two three", resuming: earlier).identity.size == 13)
    }

    @Test func theBeginningIsBounded() {
        let long = String(repeating: "x", count: InputIdentity.headLength)
        #expect(head(of: long + "y").identity == head(of: long + "z").identity)
    }
}
