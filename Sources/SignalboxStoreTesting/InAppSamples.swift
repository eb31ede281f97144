import Foundation
import SignalboxInApp
import SignalboxTesting

/// Random rows whose every member takes every kind of value. Equal seeds give equal rows. Values include empty
/// strings, quotation marks, line ends and characters beyond the basic plane, because SQL and JSON treat each of them
/// in a special way.
struct InAppSamples {
    /// One of them is the anonymous user of a device below.
    static let users = ["ann", "ben", "zoë 🦊", AnonymousUser.id(on: "phone"), AnonymousUser.id(on: "web/1'")]
    /// Ids with a slash, a quotation mark and other scripts.
    static let devices = ["phone", "web/1'", "日本"]
    /// Few, so that changes often concern the same message.
    static let messages = ["m1", "spring-modal", "braze:ünïcode"]
    /// One is longer than most columns expect.
    static let texts = ["", "x", "later", "a'b\"c", "é日🦊", "two\nlines", String(repeating: "n", count: 300)]
    /// The offset of one zone is not a whole number of hours.
    private static let zones = ["Europe/Berlin", "America/New_York", "Asia/Kolkata"].compactMap {
        TimeZone(identifier: $0)
    }
    /// In milliseconds since 1970; the gateway's own clock does not matter.
    private static let now: Instant = 1_795_348_800_000

    /// The only source of randomness, so that a seed determines all samples.
    private var random: SeededGenerator

    /// The same seed repeats a failed check; the check prints it.
    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// A change of any kind. Names and ids come from small sets, so that changes often concern the same rows. `model`:
    /// the state before the change, for removals of offers that exist.
    mutating func change(after model: InAppModel) -> RowChange {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .user(pick(Self.users), lastNow: instant())
        case 1: .device(device())
        case 2: .offer(offer(after: model))
        case 3: .removeOffer(model.offers.keys.sorted().randomElement(using: &random) ?? "none")
        case 4: .display(subject(), display())
        case 5: .removeDisplay(subject(), "of_\(number(20))")
        case 6: .total(subject(), key(), Ledger.Total(count: number(1000), last: instant()))
        default: .tally(pick(Self.messages), committed: number(3), reserved: number(5) - 2)
        }
    }

    // MARK: Rows

    /// Every member of the row, including those that decisions set rarely.
    private mutating func device() -> DeviceState {
        var device = DeviceState(id: pick(Self.devices))
        device.user = maybe { $0.pick(Self.users) }
        device.lastNow = instant()
        device.lastSeen = instant()
        device.session = number(9)
        device.client = client()
        device.lastEnd = maybe { $0.instant() }
        device.lastWalkthrough = maybe { $0.pick(Self.messages) }
        device.lastOrder = number(99)
        device.lastDecision = instant()
        device.activity = flip() ? [] : (0..<24).map { _ in number(1_000_000) }
        device.answers = (0..<number(4)).map { _ in .init(key: text(), offer: maybe { $0.text() }) }
        device.recent = (0..<number(4)).map { _ in .init(event: event(), at: instant()) }
        device.source = maybe { $0.text() }
        return device
    }

    /// The state that a device reports with a trigger.
    private mutating func client() -> ClientState {
        var client = ClientState(foreground: flip(), screen: maybe { $0.text() })
        client.orientation = maybe { $0.pick([.portrait, .landscape]) }
        client.platform = maybe { $0.pick([.ios, .android, .web, .roku]) }
        client.templates = maybe { Set($0.list()) }
        client.assets = maybe { samples in
            let assets = samples.list().map {
                ($0, samples.pick([ClientState.Asset.unknown, .loading, .ready, .failed]))
            }
            return Dictionary(assets, uniquingKeysWith: { $1 })
        }
        (client.isBusy, client.blocks, client.smartDelay) = (flip(), flip(), flip())
        client.blockedVendors = Set(list())
        client.visible = maybe { Set($0.list()) }
        client.topics = maybe { Set($0.list()) }
        client.zone = maybe { $0.pick(Self.zones) }
        return client
    }

    /// An event of any kind, which a device's row remembers for ``DeviceState/recent``.
    private mutating func event() -> TriggerEvent {
        let events: [TriggerEvent] = [
            .sessionStart, .pushOpen(campaign: maybe { $0.text() }),
            .event(name: text(), properties: maybe { $0.properties() }),
            .purchase(product: maybe { $0.text() }, properties: maybe { $0.properties() }),
            .messageClick(message: text(), button: maybe { $0.text() }), .screen(text()), .rule(text()), .test,
            .show(text()), .poll,
        ]
        return pick(events)
    }

    /// Values of every type that a filter can compare.
    private mutating func properties() -> [String: PropertyValue] {
        let values: [PropertyValue] = [
            .boolean(flip()), .number(pick([0, -0.1, 1e300, 42])), .text(text()), .date(-instant()), .list([]),
            .list([.boolean(true), .number(7), .text(text()), .date(instant())]),
        ]
        return Dictionary((0..<number(5)).map { ("p\($0)", pick(values)) }, uniquingKeysWith: { $1 })
    }

    /// An offer with the id of an earlier one has the same device, as with the engine.
    private mutating func offer(after model: InAppModel) -> Offer {
        let id = "of_\(number(20))"
        var offer = Offer(
            id: id, device: model.offers[id]?.device ?? pick(Self.devices), user: pick(Self.users),
            message: pick(Self.messages), revision: number(9), vendor: text(), kind: pick(Message.Kind.allCases),
            state: pick(Offer.State.allCases), triggeredAt: instant(), due: instant(), lapse: maybe { $0.instant() },
            flags: Offer.Flags(rawValue: number(1024)), namedLimits: list(), session: number(9))
        offer.order = number(99)
        offer.until = maybe { $0.instant() }
        offer.leaseUntil = maybe { $0.instant() }
        offer.unanswered = number(2)
        offer.shownAt = maybe { $0.instant() }
        offer.endedAt = maybe { $0.instant() }
        offer.reason = maybe { $0.text() }
        offer.clicks = number(3)
        offer.campaign = maybe { $0.text() }
        offer.reports = list().map { Offer.AcceptedReport(key: $0, offer: flip() ? "of_\(number(20))" : nil) }
        offer.runnersUp = list()
        offer.slot = maybe { SlotLabel($0.text(), productID: $0.maybe { $0.text() }, sku: $0.maybe { $0.text() }) }
        offer.page = maybe { $0.text() }
        return offer
    }

    /// Its device is the owner or another one of the same user.
    private mutating func display() -> Ledger.Display {
        Ledger.Display(
            offer: "of_\(number(20))", at: instant(), message: pick(Self.messages), vendor: text(),
            device: pick(Self.devices), session: number(9), namedLimits: list(), isExempt: flip(),
            count: 1 + number(3))
    }

    /// A user or a device, with equal probability.
    private mutating func subject() -> RowChange.Subject {
        flip() ? .user(pick(Self.users)) : .device(pick(Self.devices))
    }

    /// A key of each kind, with equal probability.
    private mutating func key() -> Ledger.Key { pick([.message(text()), .vendor(text()), .scope, .named(text())]) }

    // MARK: Values

    private mutating func flip() -> Bool { Bool.random(using: &random) }
    /// At least 0 and below the bound.
    private mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    /// Within about a day after ``now``.
    private mutating func instant() -> Instant { Self.now + Instant(number(100_000_000)) }
    /// From ``texts``, so that equal texts occur.
    private mutating func text() -> String { pick(Self.texts) }
    /// At most two strings, possibly equal.
    private mutating func list() -> [String] { (0..<number(3)).map { _ in text() } }

    /// `values`: not empty.
    private mutating func pick<Value>(_ values: [Value]) -> Value { values[number(values.count)] }

    /// Nil in half of the cases.
    private mutating func maybe<Value>(_ make: (inout InAppSamples) -> Value) -> Value? { flip() ? make(&self) : nil }
}
