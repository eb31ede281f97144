import SignalboxNotification
import SignalboxStore
import Testing

extension StoreConformance {
    private static func channel(_ id: String, of app: String = "com.example.app") -> BroadcastChannel {
        BroadcastChannel(id: id, app: app, storesLast: id == "a", source: id == "a" ? SourceName("mobile") : nil)
    }

    static let channels = [
        Self("channelsOutliveTheirProcess") { bench in
            do {
                let queue = try bench.open()
                for id in ["b", "a", "\u{e4}"] { #expect(try await queue.create(channel(id), upTo: 3, ofAll: 9)) }
                #expect(try await !queue.create(channel("c"), upTo: 3, ofAll: 9))
                #expect(try await queue.create(channel("a", of: "com.example.other"), upTo: 3, ofAll: 9))
            }
            let queue = try bench.open()
            #expect(try await queue.channels(of: "com.example.app") == ["a", "b", "\u{e4}"].map { channel($0) })
            #expect(try await queue.channel("a", of: "com.example.app") == channel("a"))
            #expect(try await queue.channel("b", of: "com.example.app")?.storesLast == false)
            #expect(try await queue.channel("b", of: "com.example.other") == nil)
            #expect(try await queue.channels(of: "com.example") == [])
        },
        Self("aRemovedChannelIsGone") { bench in
            let queue = try bench.open()
            #expect(try await queue.create(channel("a"), upTo: 1, ofAll: 9))
            #expect(try await !queue.removeChannel("a", of: "com.example.other"))
            #expect(try await queue.removeChannel("a", of: "com.example.app"))
            #expect(try await !queue.removeChannel("a", of: "com.example.app"))
            #expect(try await queue.channel("a", of: "com.example.app") == nil)
            #expect(try await queue.create(channel("b"), upTo: 1, ofAll: 9))
        },
        Self("theChannelsOfAllAppsAreBounded") { bench in
            let queue = try bench.open()
            #expect(try await queue.create(channel("a"), upTo: 2, ofAll: 2))
            #expect(try await queue.create(channel("a", of: "com.example.other"), upTo: 2, ofAll: 2))
            #expect(try await !queue.create(channel("a", of: "com.example.third"), upTo: 2, ofAll: 2))
            #expect(try await queue.removeChannel("a", of: "com.example.app"))
            #expect(try await queue.create(channel("a", of: "com.example.third"), upTo: 2, ofAll: 2))
        },
        Self("aRepeatedPushIsStoredOnce") { bench in
            let queue = try bench.open()
            let request = IdempotentRequest(from: .init("mobile"), key: "apns x", digest: [1]) { _ in
                StoredAnswer(status: 200, body: [2])
            }
            func append(_ number: Int) async -> Result<AppendResult, StoreError> {
                await withCheckedContinuation { done in
                    queue.append([bench.event(number)], of: request) { done.resume(returning: $0) }
                }
            }
            #expect(try await append(1).get() == .appended(duplicates: [:]))
            #expect(try await append(2).get() == .repeated(StoredAnswer(status: 200, body: [2])))
            #expect(try await queue.eventCount() == 1)
        },
    ]
}
