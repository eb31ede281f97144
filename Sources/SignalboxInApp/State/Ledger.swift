import Foundation

/// The displays of one user or of one device: what limits and re-eligibility count. Displays of the policy's history
/// are kept one by one, so a changed limit reads them again; totals are kept without an end.
package struct Ledger: Sendable, Hashable {
    /// One impression, or several of one message merged at the time of the last.
    package struct Display: Sendable, Hashable {
        /// The offer that was shown: the key of a display.
        package var offer: OfferID
        /// When the impression was accepted, by the server's clock.
        package var at: Instant
        /// The message that was displayed.
        package var message: MessageID
        /// The vendor of the message.
        package var vendor: Vendor
        /// The device that displayed it.
        package var device: DeviceID
        /// The device's session in which it was offered.
        package var session: Int
        /// Named limits of the message when it was offered.
        package var namedLimits: [String] = []
        /// Counts for its own message only.
        package var isExempt = false
        /// More than one after a merge.
        package var count: Int = 1

        package init(
            offer: OfferID, at: Instant, message: MessageID, vendor: Vendor, device: DeviceID, session: Int,
            namedLimits: [String] = [], isExempt: Bool = false, count: Int = 1
        ) {
            self.offer = offer
            self.at = at
            self.message = message
            self.vendor = vendor
            self.device = device
            self.session = session
            self.namedLimits = namedLimits
            self.isExempt = isExempt
            self.count = count
        }
    }

    /// The displays that a total adds up.
    package enum Key: Sendable, Hashable {
        case message(MessageID), vendor(Vendor), scope, named(String)

        /// The key as two columns of a store; the numbers are part of the file format. Also a total order, so that
        /// equal decisions have equal changes.
        package var columns: (what: Int, name: String) {
            switch self {
            case .message(let id): (0, id)
            case .vendor(let vendor): (1, vendor)
            case .scope: (2, "")
            case .named(let name): (3, name)
            }
        }
    }

    /// All displays since the first, and the time of the last.
    package struct Total: Sendable, Hashable {
        /// The displays so far.
        package var count: Int
        /// The time of the last display.
        package var last: Instant

        /// Takes the count and the time of the last display.
        package init(count: Int, last: Instant) { (self.count, self.last) = (count, last) }
    }

    /// Oldest first; by offer among equal times.
    package var displays: [Display]
    /// Never pruned, so lifetime limits and re-eligibility need no old display.
    package var totals: [Key: Total]

    /// Sorts the displays.
    package init(displays: [Display] = [], totals: [Key: Total] = [:]) {
        self.displays = displays.count < 2 ? displays : displays.sorted { ($0.at, $0.offer) < ($1.at, $1.offer) }
        self.totals = totals
    }

    /// The totals that a display counts in, each once: a message may name a limit twice.
    static func keys(of display: Display) -> [Key] {
        if display.isExempt { return [.message(display.message)] }
        var keys: [Key] = [.message(display.message), .vendor(display.vendor), .scope]
        for name in display.namedLimits where !keys.contains(.named(name)) { keys.append(.named(name)) }
        return keys
    }

    /// Inserts a display at its time; a late one may be older than others. Has no effect if the offer has a display.
    mutating func add(_ display: Display) {
        guard !displays.contains(where: { $0.offer == display.offer }) else { return }
        let place = displays.lastIndex { ($0.at, $0.offer) < (display.at, display.offer) }.map { $0 + 1 } ?? 0
        displays.insert(display, at: place)
        for key in Self.keys(of: display) {
            let total = totals[key]
            totals[key] = Total(
                count: (total?.count ?? 0) + display.count, last: max(total?.last ?? display.at, display.at))
        }
    }

    /// Adds another ledger of the same person. Never resets: displays are united by offer, and a total is at least
    /// that of each side and grows by each display that was missing. Repeating it changes nothing until one of the
    /// ledgers is pruned: the caller removes the displays from the other one.
    mutating func merge(_ other: Ledger) -> (displays: [Display], totals: [Key]) {
        let known = Set(displays.map(\.offer))
        let missing = other.displays.filter { !known.contains($0.offer) }
        for display in missing { add(display) }
        var keys = Set(missing.flatMap(Self.keys))
        for (key, total) in other.totals {
            let mine = totals[key]
            let merged = Total(
                count: max(mine?.count ?? 0, total.count), last: max(mine?.last ?? total.last, total.last))
            if merged != mine {
                totals[key] = merged
                keys.insert(key)
            }
        }
        return (missing, keys.sorted { $0.columns < $1.columns })
    }
}

extension Ledger {
    /// Displays that a limit counts at this time, oldest first. Not for `lifetime`.
    func counted(by limit: Limit, _ message: MessageID, _ context: WindowContext) -> [Display] {
        displays.filter { limit.counts($0, message) && context.contains($0, limit.window) }
    }

    /// The number of displays that a limit counts at this time.
    func count(by limit: Limit, _ message: MessageID, _ context: WindowContext) -> Int {
        let first = limit.window.longest.map { context.now - $0 } ?? Instant.min
        // A span lends its elements: a display is not copied.
        let displays = displays.span
        var count = 0
        // Starts at the newest display, because most windows contain few.
        var index = displays.count
        while index > 0, displays[index - 1].at >= first {
            index -= 1
            if limit.counts(displays[index], message) && context.contains(displays[index], limit.window) {
                count += displays[index].count
            }
        }
        return count
    }

    /// The total of a limit's owner.
    func total(of limit: Limit, _ message: MessageID) -> Int {
        let key: Key =
            switch limit.owner {
            case .message: .message(message)
            case .vendor(let vendor): .vendor(vendor)
            case .scope: .scope
            case .named(let name): .named(name)
            }
        return totals[key]?.count ?? 0
    }
}

extension Limit {
    /// Whether the limit counts a display, without regard to its time. Exempt displays count for their own message
    /// only.
    func counts(_ display: Ledger.Display, _ message: MessageID) -> Bool {
        switch owner {
        case .message: display.message == message
        case .vendor(let vendor): display.vendor == vendor && !display.isExempt
        case .scope: !display.isExempt
        case .named(let name): display.namedLimits.contains(name) && !display.isExempt
        }
    }
}

/// The time, session and zone in which windows are judged.
struct WindowContext {
    let now: Instant
    let device: DeviceID
    let session: Int
    /// As the device reports it; nil is UTC.
    let zone: TimeZone?

    /// Whether a display is in the window now.
    func contains(_ display: Ledger.Display, _ window: Limit.Window) -> Bool {
        switch window {
        case .lifetime: true
        case .session: display.device.hasBytes(of: device) && display.session == session
        case .rolling(let span): now - display.at <= span
        case .day(let zone): days(zone).day(of: display.at) == days(zone).day(of: now)
        case .week(let zone): days(zone).week(of: display.at) == days(zone).week(of: now)
        }
    }

    /// The calendar of a zone.
    func days(_ zone: Limit.Zone) -> LocalDay {
        switch zone {
        case .user: LocalDay(self.zone)
        case .fixed(let zone): LocalDay(zone)
        }
    }

    /// When a full window has a place again: the time at which `free` of these displays have left it. Nil if a place
    /// becomes free by a new session only, or never.
    func opens(_ window: Limit.Window, _ displays: [Ledger.Display], leaving free: Int) -> Instant? {
        switch window {
        case .lifetime, .session: return nil
        case .day(let zone): return days(zone).nextDay(after: now)
        case .week(let zone): return days(zone).nextWeek(after: now)
        case .rolling(let span):
            var left = free
            for display in displays {
                left -= display.count
                if left <= 0 { return display.at + span + 1 }
            }
            return nil
        }
    }
}
