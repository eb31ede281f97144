import Foundation
import SignalboxGateway
import SignalboxInApp
import SignalboxTesting

/// Messages, values and texts made from a seed.
struct RandomMessages {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    mutating func list<Element>(upTo count: Int, _ make: (inout RandomMessages) throws -> Element) rethrows -> [Element]
    {
        var elements: [Element] = []
        for _ in 0..<below(count + 1) { elements.append(try make(&self)) }
        return elements
    }

    mutating func maybe<Value>(_ make: (inout RandomMessages) throws -> Value) rethrows -> Value? {
        chance(50) ? try make(&self) : nil
    }

    mutating func name() -> String {
        pick(["a", "cart_opened", "ünï/~0\u{0}\"\\", "名前", "x y", "https://x.example/a.png?b=c", "👩‍👧", "\n\t"])
    }

    mutating func span() -> Span { pick([1, 999, 1000, 1500, 60_000, 3_600_000, 86_400_000, 366 * 86_400_000]) }
    mutating func instant() -> Instant { pick([0, -1, noon, noon + 1, 253_402_300_799_999]) }

    mutating func number() -> Double { pick([0, -1, 0.1, 20, 42.5, 1e300, -1e-7, 9_007_199_254_740_992, 1e15]) }

    mutating func scalar() -> PropertyValue {
        switch below(4) {
        case 0: .boolean(chance(50))
        case 1: .number(number())
        case 2: .text(chance(20) ? "" : name())
        default: .date(instant())
        }
    }

    mutating func value() -> PropertyValue {
        chance(20) ? .list(list(upTo: 3) { $0.scalar() }) : scalar()
    }

    mutating func condition() throws -> Filter.Condition {
        let comparison: Filter.Comparison =
            switch below(16) {
            case 0: .equals(value())
            case 1: .notEquals(value())
            case 2: .greaterThan(number())
            case 3: .atLeast(number())
            case 4: .lessThan(number())
            case 5: .atMost(number())
            case 6: .oneOf(list(upTo: 3) { $0.scalar() })
            case 7: .noneOf(list(upTo: 3) { $0.scalar() })
            case 8: .containsAll(list(upTo: 3) { $0.scalar() })
            case 9: .matches(try TextPattern(pick(["sale", "^a|b$", "[a-z]{2,3}\\d+", "名.*"])))
            case 10: .notMatches(try TextPattern("x"))
            case 11: .exists
            case 12: .notExists
            case 13: .before(instant())
            case 14: .after(instant())
            default: .unsupported(name())
            }
        let kinds: [PropertyValue.Kind] = [.boolean, .number, .text, .date, .list]
        return Filter.Condition(name(), comparison, type: maybe { $0.pick(kinds) })
    }

    mutating func filter() throws -> Filter {
        Filter(try list(upTo: 3) { try $0.list(upTo: 3) { try $0.condition() } })
    }

    mutating func trigger() throws -> MessageTrigger {
        switch below(9) {
        case 0: .sessionStart
        case 1: .pushOpen(campaign: maybe { $0.name() })
        case 2: .event(name: name(), filter: try maybe { try $0.filter() })
        case 3: .purchase(product: maybe { $0.name() }, filter: try maybe { try $0.filter() })
        case 4: .messageClick(message: name(), button: maybe { $0.name() })
        case 5: .screen(name())
        case 6: .rule(name())
        case 7: .immediate
        default: .test
        }
    }

    mutating func limit() throws -> Limit {
        let zone = Limit.Zone.fixed(try requireZone(pick(["Europe/Warsaw", "UTC", "America/Argentina/Buenos_Aires"])))
        let window: Limit.Window = pick([
            .session, .rolling(span()), .day(.user), .day(zone), .week(.user), .week(zone), .lifetime,
        ])
        let everyone = window == .lifetime && chance(50)
        return Limit(1 + below(1000), window, per: everyone ? .everyone : pick([.user, .device]))
    }

    private func requireZone(_ name: String) throws -> TimeZone {
        guard let zone = TimeZone(identifier: name) else { throw CocoaError(.fileNoSuchFile) }
        return zone
    }

    mutating func message() throws -> Message {
        let vendor = pick(["braze", "synerise", "mce", "granify", "sourse", "acme"])
        let kind = pick(Message.Kind.allCases)
        let slots = [MessageTrigger.slot(SlotLabel(name(), productID: maybe { $0.name() }, sku: maybe { $0.name() }))]
        let triggers = kind == .inline ? slots : try list(upTo: 3) { try $0.trigger() } + [.sessionStart]
        var message = Message(
            id: "m", vendor: vendor, kind: kind, triggers: chance(20) && kind != .inline ? [.immediate] : triggers,
            reEligibility: pick([.never, .always, .after(span()), .after(0)]), registeredAt: noon)
        message.revision = 3
        message.campaign = maybe { $0.name() }
        message.unless = try list(upTo: 2) { try $0.trigger() }
        message.schedule = .init(start: maybe { $0.instant() }, end: maybe { $0.instant() })
        message.delay = maybe { $0.span() } ?? 0
        message.timeout = maybe { $0.span() }
        message.interval = maybe { $0.span() }
        message.limits = try list(upTo: 3) { try $0.limit() }
        message.namedLimits = kind == .inline ? [] : list(upTo: 2) { $0.name() }
        message.rank = pick([0, 1, 500, 1000])
        fillConditions(of: &message)
        return message
    }

    private mutating func fillConditions(of message: inout Message) {
        message.requirements.orientation = maybe { $0.pick([.portrait, .landscape]) }
        message.requirements.template = maybe { $0.name() }
        message.requirements.assets = Set(list(upTo: 3) { $0.name() })
        message.requirements.screens = Set(list(upTo: 3) { $0.name() })
        message.requirements.lacksImage = chance(20)
        message.isBlocking = chance(20)
        message.isExempt = chance(20)
        message.isTest = chance(20)
        message.pair = maybe { .init(key: $0.name(), role: $0.pick([.smart, .plain]), marker: $0.name()) }
        message.experiment = maybe { $0.name() }
        message.isSmart = chance(50)
        message.asksApp = chance(20)
        message.renderTimeout = maybe { $0.pick([1000, 5000, 600_000]) }
    }

    mutating func form() throws -> MessageForm {
        let texts = ["{}", #"{"a":[1,2.5,null]}"#, #""text""#, "0", "[]"]
        let address: InAppRegistration.Address? = pick([nil, .user(name()), .device(name())])
        return MessageForm(
            try message(), content: maybe { Array($0.pick(texts).utf8) }, action: maybe { Array($0.pick(texts).utf8) },
            address: address)
    }
}
