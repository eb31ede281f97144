import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

extension StoreConformance {
    /// In seconds, like all times here.
    private static let hour: TimeInterval = 3600
    private static let day: TimeInterval = 86_400

    /// `days`, `count`: the bounds of the registry of categories.
    private static func retention(days: Double = 90, count: Int = 1000) -> Retention {
        Retention(
            ended: .seconds(7 * day), dead: .seconds(30 * day), bytes: .max,
            categories: .init(age: .seconds(days * day), count: count))
    }

    /// Identifiers in the order of the page.
    private static func names(_ queue: any Store, limit: Int = 1000) async throws -> [String] {
        try await queue.categories(limit: limit).map(\.identifier)
    }

    /// The registry of button sets: an append records the category of its event, and
    /// ``IntakeStore/categories(limit:after:upTo:)`` lists those that were seen last, in byte order of their
    /// identifiers.
    ///
    /// Many events name the same category. The store therefore writes a known one at most once an hour, and asks for
    /// the definition only when it must write it. A definition with a name of its own replaces the former one.
    ///
    /// Categories outlive their events: upkeep removes them by their own age and number. A category of an append that
    /// failed, or of an event that was a duplicate, is not recorded, and a removed one is recorded when it is seen
    /// again.
    static let categories = [
        Self("aCategoryOfManyEventsIsStoredOnce") { bench in
            let queue = try bench.open()
            try await queue.append((0..<50).map { bench.event($0, with: bench.category("a")) } + [bench.event(50)])
            try await queue.append([bench.event(51, with: bench.category("b"))])
            #expect(try await names(queue) == ["a", "b"])
            #expect(try await queue.category("a") == bench.category("a"))
            #expect(try await queue.category("c") == nil)
            #expect(try await queue.eventCount() == 52)
        },
        Self("categoriesOfOneAppendAreComparedByTheirBytes") { bench in
            let queue = try bench.open()
            try await queue.append(StoreBench.twins.map { bench.event(1, with: bench.category($0)) })
            let stored = try await names(queue)
            #expect(stored.map { Array($0.utf8) } == StoreBench.twins.reversed().map { Array($0.utf8) })
        },
        Self("categoriesAreReadInPages") { bench in
            let queue = try bench.open()
            try await queue.append(["c", "a", "\u{e4}", "B"].map { bench.event(1, with: bench.category($0)) })
            let first = try await queue.categories(limit: 10, upTo: 2).map(\.identifier)
            #expect(first == ["B", "a"])
            let second = try await queue.categories(limit: 10, after: "a", upTo: 2).map(\.identifier)
            #expect(second == ["c", "\u{e4}"])
            #expect(try await queue.categories(limit: 10, after: "\u{e4}", upTo: 2).isEmpty)
            #expect(try await queue.categories(limit: 1, upTo: 5).count == 1)
        },
        Self("aCategoryOutlivesItsProcessAndItsEvents") { bench in
            do {
                let queue = try bench.open()
                try await queue.append([bench.event(1, with: bench.category("a"))])
                try await queue.settle(bench.claimOne(queue), .delivered(status: 200))
            }
            let queue = try bench.open()
            bench.clock.advance(by: 8 * day)
            #expect(try await queue.remove(beyond: retention()) == 1, "categories are not counted")
            #expect(try await queue.eventCount() == 0)
            #expect(try await names(queue) == ["a"])
        },
        Self("aNewDefinitionReplacesTheOldOne") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, with: bench.category("a"))])
            let other = CategoryRecord(identifier: "a", definition: Array(#"{"other":true}"#.utf8))
            try await queue.append([bench.event(2, with: other)])
            #expect(try await queue.categories(limit: 10) == [other])
        },
        Self("aCategoryIsRemovedOnceItsAgeIsExceeded") { bench in
            let queue = try bench.open()
            try await queue.append(["a", "b"].map { bench.event(1, with: bench.category($0)) })
            bench.clock.advance(by: 60 * day)
            try await queue.append([bench.event(2, with: bench.category("b"))])
            bench.clock.advance(by: 30 * day)
            _ = try await queue.remove(beyond: retention())
            #expect(try await names(queue) == ["a", "b"], "not older than the limit")
            bench.clock.advance(by: 1)
            _ = try await queue.remove(beyond: retention())
            #expect(try await names(queue) == ["b"])
            bench.clock.advance(by: 60 * day)
            _ = try await queue.remove(beyond: retention())
            #expect(try await names(queue).isEmpty)
        },
        Self("keepsTheCategoriesThatWereSeenLast") { bench in
            let queue = try bench.open()
            // Takes more than one step.
            for start in stride(from: 0, to: 1300, by: 100) {
                bench.clock.advance(by: 2 * hour)
                try await queue.append(
                    (start..<start + 100).map { bench.event($0, with: bench.category("c\(10_000 + $0)")) })
            }
            #expect(try await names(queue, limit: 100) == (1200..<1300).map { "c\(10_000 + $0)" }, "those seen last")
            _ = try await queue.remove(beyond: retention(count: 150))
            let left = try await names(queue)
            #expect(left.count == 150)
            #expect(left.suffix(100) == (1200..<1300).map { "c\(10_000 + $0)" })
            #expect(left.prefix(50).allSatisfy { $0 >= "c11100" })
        },
        Self("aCategoryIsUpdatedOnceAnHour") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, with: bench.category("a"))])
            bench.clock.advance(by: hour - 1)
            try await queue.append([bench.event(2, with: bench.category("a"))])
            bench.clock.advance(by: day - hour + 2)
            _ = try await queue.remove(beyond: retention(days: 1))
            #expect(try await names(queue).isEmpty, "seen within the hour, so not written again")
            try await queue.append([bench.event(3, with: bench.category("a"))])
            bench.clock.advance(by: hour)
            try await queue.append([bench.event(4, with: bench.category("a"))])
            bench.clock.advance(by: day - 1)
            _ = try await queue.remove(beyond: retention(days: 1))
            #expect(try await names(queue) == ["a"])
            // A clock that was set back must not prevent the update.
            bench.clock.advance(by: -30 * day)
            try await queue.append([bench.event(5, with: bench.category("a"))])
            bench.clock.advance(by: day + 1)
            _ = try await queue.remove(beyond: retention(days: 1))
            #expect(try await names(queue).isEmpty)
        },
        Self("aDuplicateEventDefinesNoCategory") { bench in
            let queue = try bench.open()
            let dedupe = RoutedEvent.Dedupe(key: "k", since: bench.clock.now.addingTimeInterval(-60))
            try await queue.append([bench.event(1, to: [], dedupe: dedupe)])
            let category = DefinedCategory("a", isNamedByDefinition: true) { bench.category("a") }
            try await queue.append([bench.event(2, to: [], category: category, dedupe: dedupe)])
            #expect(try await queue.eventCount() == 1)
            #expect(try await names(queue).isEmpty)
        },
        Self("aDefinitionIdentifiedByItsNameIsMadeOnceAnHour") { bench in
            let queue = try bench.open()
            let made = Mutex(0)
            let category = DefinedCategory("a", isNamedByDefinition: true) {
                made.withLock { $0 += 1 }
                return bench.category("a")
            }
            for number in 0..<3 {
                try await queue.append((0..<10).map { _ in bench.event(number, defining: category) })
            }
            #expect(made.withLock { $0 } == 1)
            bench.clock.advance(by: hour)
            try await queue.append([bench.event(4, defining: category)])
            #expect(made.withLock { $0 } == 2)
            #expect(try await names(queue) == ["a"])
        },
        Self("aRemovedCategoryIsStoredWhenItIsSeenAgain") { bench in
            let queue = try bench.open()
            func see(_ name: String) async throws {
                let category = DefinedCategory(name, isNamedByDefinition: true) { bench.category(name) }
                try await queue.append([bench.event(1, defining: category)])
                bench.clock.advance(by: 1)
            }
            try await see("a")
            try await see("b")
            _ = try await queue.remove(beyond: retention(count: 1))
            #expect(try await names(queue) == ["b"])
            try await see("a")
            #expect(try await names(queue) == ["a", "b"])
        },
        Self("aCategoryOfAFailedAppendIsStoredByTheNext") { bench in
            let queue = try bench.open()
            let taken = bench.event(1)
            try await queue.append([taken])
            let category = DefinedCategory("a", isNamedByDefinition: true) { bench.category("a") }
            // The second event has an id that is in use.
            await #expect(throws: StoreError.self) {
                try await queue.append([bench.event(2, defining: category), taken])
            }
            #expect(try await names(queue).isEmpty)
            try await queue.append([bench.event(3, defining: category)])
            #expect(try await names(queue) == ["a"])
        },
    ]
}

extension StoreBench {
    /// A category whose definition depends on its name only.
    func category(_ identifier: String) -> CategoryRecord {
        CategoryRecord(identifier: identifier, definition: Array("{\"identifier\":\"\(identifier)\"}".utf8))
    }

    /// An event to `crm` whose payload defines a category with a given name.
    func event(_ number: Int, with category: CategoryRecord) -> RoutedEvent {
        event(number, defining: DefinedCategory(category.identifier, isNamedByDefinition: false) { category })
    }

    /// An event with a delivery to `crm`, without files.
    func event(_ number: Int, defining category: DefinedCategory) -> RoutedEvent {
        event(number, category: category)
    }
}
