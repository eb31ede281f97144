import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Deliveries that operators order.
    static let manualDeliveries = [
        Self("anOrderedDeliveryIsSentWithTheSameEvent") { bench in
            let queue = try bench.open()
            let event = bench.event(1)
            try await queue.append([event])
            let first = try await bench.claimOne(queue)
            try await queue.settle(first, .delivered(status: 200))
            let id = event.event.id.description
            let action = OperatorAction(by: "ann", via: .api, "events.send", target: id)
            let result = try await queue.send(ManualDelivery(id, to: bench.crm), as: action)
            let second = try await bench.claimOne(queue)
            #expect(result == .ordered(second.delivery))
            #expect(second.event == id && second.body == first.body && second.attempts == 0)
            let records = try await queue.deliveries(DeliveryFilter(event: id), limit: 5)
            #expect(records.map(\.isManual) == [true, false])
            let log = try await queue.actionPage(ActionFilter(), limit: 5, examining: 5).records
            #expect(log.map(\.action) == [action] && log.map(\.count) == [1])
            try await queue.settle(second, .delivered(status: 200))
            #expect(try await queue.audit().isRight)
        },
        Self("anOrderForAnUnknownEventWritesNothing") { bench in
            let queue = try bench.open()
            let action = OperatorAction(by: "ann", via: .api, "events.send")
            #expect(try await queue.send(ManualDelivery("0193", to: bench.crm), as: action) == .unknownEvent)
            #expect(try await queue.actionPage(ActionFilter(), limit: 5, examining: 5).records.isEmpty)
            #expect(try await queue.gauges()[bench.crm] == nil)
        },
        Self("anOrderedDeliveryHasTheFormOfTheDestination") { bench in
            let queue = try bench.open()
            var order = DeliveryOrder(to: bench.crm)
            order.variant = 0
            let event = bench.event(1, to: [order], variants: [Array("variant".utf8)])
            try await queue.append([event])
            try await queue.settle(try await bench.claimOne(queue), .refused)
            let id = event.event.id.description
            var again = ManualDelivery(id, to: bench.crm)
            again.variant = Array("other".utf8)
            _ = try await queue.send(again, as: nil)
            #expect(try await bench.claimOne(queue).body == Array("variant".utf8))
            // A destination without a delivery of the event receives the form of the order.
            var first = ManualDelivery(id, to: bench.inbox)
            first.variant = Array("other".utf8)
            _ = try await queue.send(first, as: nil)
            #expect(try await queue.claim(from: bench.inbox, upTo: 1).map(\.body) == [Array("other".utf8)])
        },
        Self("anOrderedDeliveryNeedsThePayloadOfItsDestination") { bench in
            let queue = try bench.open()
            let gone = bench.event(1)
            var kept = bench.event(2).event
            (kept.payload, kept.keeping) = (Array("raw".utf8), .withEvent)
            try await queue.append([gone, RoutedEvent(event: kept, routes: [], deliveries: [])])
            var order = ManualDelivery(gone.event.id.description, to: bench.inbox)
            order.needsPayload = true
            #expect(try await queue.send(order, as: nil) == .payloadGone)
            order = ManualDelivery(kept.id.description, to: bench.inbox)
            order.needsPayload = true
            _ = try await queue.send(order, as: nil)
            #expect(try await queue.claim(from: bench.inbox, upTo: 1).map(\.payload) == [Array("raw".utf8)])
        },
        Self("anOrderedDeliveryDoesNotOvertakeOneThatWaitsForFiles") { bench in
            let queue = try bench.open()
            try await queue.openMedia {}
            var held = DeliveryOrder(to: bench.crm)
            held.mediaUntil = bench.clock.now.addingTimeInterval(60)
            let event = bench.event(1, to: [held], media: MediaWait(urls: ["https://media.example/a.png"]))
            try await queue.append([event])
            let id = event.event.id.description
            #expect(try await queue.send(ManualDelivery(id, to: bench.crm), as: nil) == .awaitsMedia)
            #expect(try await queue.deliveries(DeliveryFilter(event: id), limit: 5).count == 1)
            #expect(
                try await queue.mediaURLs(named: ["https://media.example/b.png", "https://media.example/a.png"])
                    .map(\.url) == ["https://media.example/a.png"])
        },
        Self("anOrderedDeliveryJoinsTheLineOfItsKey") { bench in
            let queue = try bench.open(isOrdered: true)
            // Longer than an entry of an index of PostgreSQL, even when it is compressed.
            let long = String(decoding: (0..<5000).map { _ in UInt8.random(in: 33...126) }, as: UTF8.self)
            for key in ["a", String(repeating: "b", count: 1500), long] {
                let event = bench.event(1, to: [DeliveryOrder(to: bench.crm, orderKey: key)])
                try await queue.append([event])
                var order = ManualDelivery(event.event.id.description, to: bench.crm)
                order.orderKey = key
                _ = try await queue.send(order, as: nil)
                for _ in 0..<2 {
                    let lease = try await bench.claimOne(queue)
                    #expect(try await bench.claimNumbers(queue).isEmpty, "the other one waits")
                    try await queue.settle(lease, .delivered(status: 200))
                }
            }
        },
        Self("anOrderedDeliveryWaitsForAPausedDestination") { bench in
            let queue = try bench.open()
            let event = bench.event(1, to: [])
            try await queue.append([event])
            try await queue.set(.paused, of: bench.crm)
            _ = try await queue.send(ManualDelivery(event.event.id.description, to: bench.crm), as: nil)
            #expect(try await queue.claim(from: bench.crm, upTo: 1).isEmpty)
            try await queue.set(nil, of: bench.crm)
            #expect(try await queue.claim(from: bench.crm, upTo: 1).count == 1)
        },
    ]
}
