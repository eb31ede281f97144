import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Texts from outside are compared by their bytes: two forms of "é" are two texts. The engine's own ids are in
    /// ``inApp``.
    static let texts = [
        Self("keysAreComparedByTheirBytes") { bench in
            let (one, two) = ("é", "e\u{301}")
            let queue = try bench.open()
            let events = [bench.event(1, repeating: one), bench.event(2, repeating: two)]
            #expect(try await queue.append(events) == .appended(duplicates: [:]))
            // Together, so that some share a transaction.
            let results = try await withThrowingTaskGroup(of: AppendResult.self) { group in
                for number in 3..<43 {
                    let (key, body): (String, UInt8) = number % 2 == 0 ? (one, 1) : (two, 2)
                    group.addTask {
                        try await queue.append([bench.event(number)], of: bench.request(key, body: body))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 == .appended(duplicates: [:]) } == 2)
            #expect(!results.contains(.conflicting))
            #expect(try await queue.eventCount() == 4)
        },
        Self("filesAreToldApartByTheBytesOfTheirURLs") { bench in
            let urls = ["https://a.example/é.png", "https://a.example/e\u{301}.png"]
            let queue = try bench.open()
            try await queue.append([bench.event(0, waitingFor: urls)] + urls.map { bench.event(1, waitingFor: [$0]) })
            let found = try await queue.dueMedia(upTo: 8, perHost: 8).map { Array($0.url.utf8) }
            #expect(found.sorted { $0.count < $1.count } == urls.map { Array($0.utf8) })
            #expect(try await bench.claimNumbers(queue).isEmpty, "all wait")
            bench.clock.advance(by: 61)
            let held = try await queue.heldDeliveries(upTo: 10)
            #expect(held.map(\.media.count).sorted() == [1, 1, 2])
        },
        // A host is any text: it is not checked before the download.
        Self("hostsAreWalkedInTheOrderOfTheirBytes") { bench in
            let hosts = ["e\u{301}.example", "z.example", "é.example", String(repeating: "x\u{301}", count: 2_000)]
            let queue = try bench.open()
            try await queue.append(hosts.enumerated().map { bench.event($0, waitingFor: ["https://\($1)/a.png"]) })
            #expect(try await queue.dueMedia(upTo: 8, perHost: 8).count == hosts.count)
            let mark = "x" + String(repeating: "\u{301}", count: 1_700)
            try await queue.append([bench.event(9, waitingFor: ["https://\(mark)/a.png"])])
            #expect(try await queue.dueMedia(upTo: 8, perHost: 8).count == hosts.count + 1)
            #expect(try await queue.audit().isRight)
        },
    ]
}
