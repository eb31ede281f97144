import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Repeated requests and events. A request with an `Idempotency-Key` is stored with its answer: a repeat receives
    /// that answer, another body with the same key conflicts, and an append that fails keeps the key free. Keys
    /// belong to a source and are remembered for a day. Of many concurrent equal requests, one is accepted.
    ///
    /// Events may have an identity of their own: a lasting id, or a value that the config names for `dedupe`. The
    /// store accepts the first event of a window and returns its id for the others. Followers, such as a snoozed
    /// notification, are accepted with their event only.
    static let repeats = [
        Self("aRepeatedRequestGetsTheFirstAnswer") { bench in
            let queue = try bench.open()
            let first = try await queue.append([bench.event(1)], of: bench.request("k", body: 1, answer: "first"))
            #expect(first == .appended(duplicates: [:]))
            let answer = AppendResult.repeated(StoredAnswer(status: 202, body: Array("first".utf8)))
            let repeated = bench.request("k", body: 1, answer: "second")
            #expect(try await queue.append([bench.event(1)], of: repeated) == answer)
            #expect(try await bench.open().append([bench.event(1)], of: repeated) == answer, "also after a restart")
            #expect(try await queue.eventCount() == 1)
        },
        Self("theAnswerOfARequestCanBeReadByItsKey") { bench in
            let queue = try bench.open()
            let source = SourceName("mobile")
            let request = bench.request("k", from: "mobile", body: 1, answer: "first")
            let digest = request.digest
            #expect(try await queue.result(ofKey: "k", digest: digest, from: source) == nil)
            try await queue.append([bench.event(1)], of: request)
            let repeated = AppendResult.repeated(StoredAnswer(status: 202, body: Array("first".utf8)))
            #expect(try await bench.open().result(ofKey: "k", digest: digest, from: source) == repeated)
            #expect(try await queue.result(ofKey: "k", digest: digest + [0], from: source) == .conflicting)
            #expect(try await queue.result(ofKey: "k", digest: digest, from: SourceName("other")) == nil)
            bench.clock.advance(by: StoreLimits.requestMemory / .seconds(1))
            #expect(try await queue.result(ofKey: "k", digest: digest, from: source) == nil)
        },
        Self("anEventWithALastingIDIsAcceptedOnce") { bench in
            let queue = try bench.open()
            let first = bench.event(1, hasLastingID: true)
            let id = first.event.id.description
            #expect(try await queue.append([first]) == .appended(duplicates: [:]))
            let again = try await queue.append([bench.event(2), first, bench.event(3)])
            #expect(again == .appended(duplicates: [1: id]))
            #expect(try await bench.open().append([first, first]) == .appended(duplicates: [0: id, 1: id]))
            #expect(try await queue.eventCount() == 3)
            #expect(try await bench.claimNumbers(bench.open()) == [1, 2, 3])
            #expect(try await queue.audit().accounts.map(\.accepted) == [3])
        },
        Self("aKeyConflictsWithAnotherBody") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)], of: bench.request("k", body: 1))
            #expect(try await queue.append([bench.event(2)], of: bench.request("k", body: 2)) == .conflicting)
            #expect(
                try await queue.append([bench.event(3)], of: bench.request("k", from: "other", body: 2))
                    == .appended(duplicates: [:]), "each source has its own keys")
            #expect(try await queue.eventCount() == 2)
        },
        Self("aKeyIsForgottenAfterADay") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)], of: bench.request("k", body: 1))
            bench.clock.advance(by: StoreLimits.requestMemory / .seconds(1))
            #expect(
                try await queue.append([bench.event(2)], of: bench.request("k", body: 2)) == .appended(duplicates: [:]))
            #expect(try await queue.append([bench.event(3)], of: bench.request("k", body: 1)) == .conflicting)
        },
        Self("aFailedRequestKeepsItsKeyFree") { bench in
            let queue = try bench.open()
            let first = bench.event(1)
            try await queue.append([first])
            await #expect(throws: StoreError.self) {
                try await queue.append([first], of: bench.request("k", body: 1))
            }
            #expect(
                try await queue.append([bench.event(2)], of: bench.request("k", body: 1)) == .appended(duplicates: [:]))
        },
        Self("oneOfManyConcurrentEqualRequestsIsAccepted") { bench in
            let queue = try bench.open()
            let results = try await withThrowingTaskGroup(of: AppendResult.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await queue.append(
                            [bench.event(number)], of: bench.request("k", body: 1, answer: "\(number)"))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 == .appended(duplicates: [:]) } == 1)
            let answers = results.filter { $0 != .appended(duplicates: [:]) }
            #expect(answers.count == 199)
            let first = try #require(answers.first)
            #expect(answers.allSatisfy { $0 == first })
            #expect(try await queue.eventCount() == 1)
            #expect(try await queue.claim(from: bench.crm, upTo: 10).count == 1)
        },
        Self("acceptsOnlyTheFirstEventOfAWindow") { bench in
            let queue = try bench.open()
            let first = bench.event(1, repeating: "x")
            let result = try await queue.append([first, bench.event(2, repeating: "x"), bench.event(3, repeating: "y")])
            #expect(result == .appended(duplicates: [1: first.event.id.description]))
            bench.clock.advance(by: 59)
            #expect(
                try await bench.open().append([bench.event(4, repeating: "x")])
                    == .appended(duplicates: [0: first.event.id.description]))
            bench.clock.advance(by: 1)
            #expect(try await queue.append([bench.event(5, repeating: "x")]) == .appended(duplicates: [:]))
            #expect(try await queue.eventCount() == 3)
        },
        Self("followersAreAcceptedWithTheirEventOnly") { bench in
            let queue = try bench.open()
            let first = bench.event(1, repeating: "x", followedBy: [bench.event(2)])
            let again = bench.event(3, repeating: "x", followedBy: [bench.event(4)])
            let result = try await queue.append([first, again])
            #expect(result == .appended(duplicates: [1: first.event.id.description]))
            #expect(try await bench.claimNumbers(queue) == [1, 2])
            #expect(try await queue.audit().isRight)
        },
        Self("aDuplicateAmongAllSourcesIsFoundFromAnySource") { bench in
            let queue = try bench.open()
            let first = bench.event(1, repeating: "x", among: .all)
            try await queue.append([first, bench.event(2, repeating: "x")])
            let other = bench.event(3, repeating: "x", among: .all, from: "other")
            #expect(try await queue.append([other]) == .appended(duplicates: [0: first.event.id.description]))
            #expect(try await queue.eventCount() == 2)
        },
        Self("anEventIsFoundByItsId") { bench in
            let event = bench.event(1, payload: [7], variants: [[8]])
            try await bench.open().append([event])
            let queue = try bench.open()
            let found = try #require(try await queue.event(event.event.id.description))
            #expect(found.body == event.event.body && found.payload == [7] && found.variants == [[8]])
            #expect(found.source == event.event.source && found.subject == event.event.subject)
            #expect(try await queue.event("01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11") == nil)
        },
    ]
}

extension StoreBench {
    /// A request with a key. `size`: additional bytes of its answer. Equal bodies have equal digests.
    func request(
        _ key: String, from source: String = "default", body: UInt8, answer: String = "accepted", size: Int = 0
    ) -> IdempotentRequest {
        IdempotentRequest(from: SourceName(source), key: key, digest: [body]) { _ in
            StoredAnswer(status: 202, body: Array(answer.utf8) + Array(repeating: 32, count: size))
        }
    }

    /// An event that repeats those with the same text within a minute. `scope`: whether other sources count too.
    func event(
        _ number: Int, repeating text: String, among scope: RoutedEvent.Dedupe.Scope = .source,
        from source: String = "default", followedBy followers: [RoutedEvent] = []
    ) -> RoutedEvent {
        event(
            number, dedupe: RoutedEvent.Dedupe(key: text, since: clock.now.addingTimeInterval(-60), scope: scope),
            followers: followers, from: SourceName(source))
    }
}
