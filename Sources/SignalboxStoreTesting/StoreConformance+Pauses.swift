import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// A pause may have an end, at which the gateway resumes the destination.
    static let pauses = [
        Self("aPauseEndsByItself") { bench in
            let queue = try bench.open()
            let end = bench.clock.now.addingTimeInterval(60)
            try await queue.append([bench.event(1)])
            try await queue.set(.paused, of: bench.crm, until: end, as: nil)
            #expect(try await queue.statuses()[bench.crm]?.until == end)
            bench.clock.advance(by: 59)
            let early = try await queue.tick()
            #expect(early.isEmpty)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 1)
            let ended = try await queue.tick()
            #expect(ended == [bench.crm])
            #expect(try await bench.claimNumbers(queue) == [1])
            #expect(try await queue.statuses().isEmpty)
            let log = try await queue.actionPage(ActionFilter(), limit: 9, examining: 9).records
            #expect(log.map(\.action.operation) == ["destinations.resume"])
            #expect(log.map(\.action.actor) == ["gateway"] && log.map(\.action.via) == [.gateway])
            #expect(log.map(\.action.target) == ["crm"])
        },
        Self("theEndOfAPauseOutlivesTheProcess") { bench in
            let first = try bench.open()
            let end = bench.clock.now.addingTimeInterval(60)
            try await first.set(.paused, of: bench.crm, until: end, as: nil)
            let second = try bench.open()
            try await second.append([bench.event(1)])
            #expect(try await bench.claimNumbers(second).isEmpty)
            bench.clock.advance(by: 61)
            #expect(try await bench.claimNumbers(second) == [1])
        },
        Self("aLaterPauseReplacesTheEnd") { bench in
            let queue = try bench.open()
            let start = bench.clock.now
            try await queue.append([bench.event(1)])
            try await queue.set(.paused, of: bench.crm, until: start.addingTimeInterval(60), as: nil)
            // Another process, such as a command, pauses it without an end.
            try await bench.open().set(.paused, of: bench.crm)
            bench.clock.advance(by: 120)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            #expect(try await queue.statuses()[bench.crm]?.word == "paused")
            #expect(try await queue.statuses()[bench.crm]?.until == nil)
            try await queue.set(nil, of: bench.crm)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("aResumeEndsTheBackoff") { bench in
            let gateway = try bench.open()
            let operators = try bench.location.openBeside(bench.clock)
            try await gateway.tick()
            let now = bench.clock.now
            for kind in DestinationBackoff.Kind.allCases {
                // The probe is due when the operator resumes the destination; the requested pause lasts longer.
                let end = now.addingTimeInterval(kind == .breakerOpen ? 30 : 86_400)
                try await gateway.record(
                    DestinationBackoff(kind, reason: "answered 503", since: now, until: end), of: bench.crm)
                bench.clock.advance(by: 60)
                try await gateway.tick()
                #expect(!gateway.takeResumed(bench.crm))
                // By another process, such as a command. The destination is active.
                try await operators.set(nil, of: bench.crm)
                try await gateway.tick()
                #expect(gateway.takeResumed(bench.crm))
                try await gateway.tick()
                #expect(!gateway.takeResumed(bench.crm), "known once")
            }
            #expect(try await gateway.statuses().isEmpty)
            #expect(gateway.isActive(bench.crm))
        },
        Self("aResumeByTheGatewayIsKnownAtOnce") { bench in
            let gateway = try bench.open()
            try await gateway.tick()
            #expect(!gateway.takeResumed(bench.crm))
            // Stores keep milliseconds.
            bench.clock.advance(by: 0.0004)
            try await gateway.set(nil, of: bench.crm)
            #expect(gateway.takeResumed(bench.crm))
            try await gateway.tick()
            #expect(!gateway.takeResumed(bench.crm), "known once")
            #expect(!gateway.takeResumed(bench.inbox))
        },
        Self("countsHeldDeliveriesByDestination") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            #expect(try await queue.heldCounts().isEmpty)
            let url = "https://a.example/x.png"
            let event = bench.event(2, waitingFor: [url])
            try await queue.append([
                event.with(deliveries: event.deliveries + [DeliveryOrder(to: bench.inbox)]),
                bench.event(3, waitingFor: [url]),
            ])
            #expect(try await queue.heldCounts() == [bench.crm: 2])
        },
    ]
}
