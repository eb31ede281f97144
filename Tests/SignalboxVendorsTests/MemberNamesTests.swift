import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct MemberNamesTests {
    private static let prefix = Array("payload.".utf8)

    @Test func aTakenNameGetsThePrefixUntilItIsFree() throws {
        let read = try Normalised(
            #"""
            {"message":{"token":"t","data":{"a":1,"payload.a":2},"android":{"data":{"a":3,"payload.a":4}}}}
            """#
        ).notification
        #expect(
            read.custom?.string
                == #"{"a":3,"payload.a":4,"payload.payload.a":1,"payload.payload.payload.a":2}"#)
    }

    /// Every key is the next one's name with the prefix, so each search begins in the middle of the chain.
    @Test func aChainOfTakenNamesIsExaminedOnce() throws {
        let count = 300
        let keys = (0..<count).map { String(repeating: "payload.", count: $0) + "a" }
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let members = keys.map { "\"\($0)\":1" }.joined(separator: ",")
            let root = try parser.parse(Array("{\(members)}".utf8))
            var names = MemberNames()
            for (key, _) in root.members {
                let isNew = names.insert(key)
                #expect(isNew)
            }
            let made = keys.map { key in
                String(
                    decoding: names.insert(made: Self.prefix + Array(key.utf8), elseWith: Self.prefix), as: UTF8.self)
            }
            #expect(made == (0..<count).map { String(repeating: "payload.", count: count + $0) + "a" })
            #expect(names.examined < 5 * count)
        }
    }
}
