import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxServer
import SignalboxStore

struct Deliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look into the queue and the dead letters, also while the gateway runs.",
        subcommands: [List.self, Show.self, Retry.self, Purge.self])

    /// Opens the queue without taking the data directory away from a running gateway.
    static func queue(_ options: GatewayOptions) throws(ExitCode) -> SQLiteQueue {
        let directory = options.dataDirectory(file: try NormalizerOptions(options).config().gateway.dataDirectory)
        do throws(StoreError) {
            return try SQLiteQueue.existing(in: directory)
        } catch {
            throw refuse("\(error)")
        }
    }

    static func orRefuse<T: Sendable>(_ work: () async throws(StoreError) -> T) async throws(ExitCode) -> T {
        do throws(StoreError) { return try await work() } catch { throw refuse("\(error)") }
    }

    /// Explains why deliveries wait, as far as the config and the queue show.
    private struct Waits {
        private let destinations: [DestinationName: Destination]
        private let hindrances: [DestinationName: Hindrance]

        init(_ options: GatewayOptions, _ hindrances: [DestinationName: Hindrance]) throws(ExitCode) {
            let config = try NormalizerOptions(options).config()
            destinations = Dictionary(uniqueKeysWithValues: config.destinations.map { ($0.name, $0) })
            self.hindrances = hindrances
        }

        func wait(of record: DeliveryRecord) -> DeliveryWait? {
            let destination = destinations[record.destination]
            return DeliveryWait(
                of: record,
                in: DeliveryWait.Circumstances(
                    hindrance: hindrances[record.destination], isKnown: destination != nil,
                    hasRate: destination?.perSecond != nil),
                at: Date())
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List deliveries, the newest first.")

        @OptionGroup var options: GatewayOptions
        @Option(help: "Only those that are waiting, delivered, dead or expired.") var state: DeliveryRecord.State?
        @Option(help: "Only those to this destination.") var destination: String?
        @Option(help: "At most this many.") var limit = 50
        @Flag(help: "One JSON object a line.") var json = false

        func run() async throws {
            let queue = try Deliveries.queue(options)
            let filter = DeliveryFilter(state: state, destination: destination.map { DestinationName($0) })
            let limit = max(0, limit)
            let (records, hindrances) = try await Deliveries.orRefuse { () throws(StoreError) in
                (try await queue.deliveries(filter, limit: limit), try await queue.hindrances())
            }
            let waits = try Waits(options, hindrances)
            if json { return records.forEach { print($0.json(waits.wait(of: $0))) } }
            print("ID        STATE      ATTEMPTS  DESTINATION       SUBJECT                 NEXT / LAST ERROR")
            for record in records {
                print(record.row(behind: hindrances[record.destination], wait: waits.wait(of: record)))
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one delivery, its attempts, and the event it carries.",
            discussion: "One JSON object a line: the delivery, each attempt from the first to the last, the event.")

        @OptionGroup var options: GatewayOptions
        @Argument(help: "The delivery's number.") var id: Int64

        func run() async throws {
            let queue = try Deliveries.queue(options)
            let id = id
            let (found, hindrances) = try await Deliveries.orRefuse { () throws(StoreError) in
                (try await queue.deliveries(DeliveryFilter(ids: [id]), limit: 1), try await queue.hindrances())
            }
            guard let record = found.first else {
                StandardError.write("signalbox: there is no delivery \(id).\n")
                throw ExitCode.incomplete
            }
            print(record.json(try Waits(options, hindrances).wait(of: record)))
            let attempts = try await Deliveries.orRefuse { () throws(StoreError) in try await queue.attempts(of: id) }
            for attempt in attempts { print(attempt.json) }
            let body = try await Deliveries.orRefuse { () throws(StoreError) in
                try await queue.body(ofEvent: record.event)
            }
            if let body { print(String(decoding: body, as: UTF8.self)) }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make deliveries due again, with a fresh budget of attempts.",
            discussion: "A running gateway takes them up at once; otherwise the next start does.")

        @OptionGroup var options: GatewayOptions
        @Argument(help: "Numbers of deliveries.") var ids: [Int64] = []
        @Flag(help: "All that are dead.") var dead = false
        @Option(help: "Only those to this destination.") var destination: String?

        func validate() throws {
            if ids.isEmpty, !dead { throw ValidationError("Name deliveries by number, or say --dead.") }
            if ids.count > 500 { throw ValidationError("Name at most 500 deliveries at once.") }
        }

        func run() async throws {
            let queue = try Deliveries.queue(options)
            let filter = DeliveryFilter(
                ids: ids.isEmpty ? nil : ids, state: dead ? .dead : nil,
                destination: destination.map { DestinationName($0) })
            let count = try await Deliveries.orRefuse { () throws(StoreError) in try await queue.retry(filter) }
            print("\(count) deliveries are due again")
            if !ids.isEmpty, count < ids.count { throw ExitCode.incomplete }
        }
    }
}

extension Deliveries {
    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove deliveries for good, and events that then have none left.",
            discussion: """
                Removed deliveries cannot be restored; the audit goes on counting them. Before it removes deliveries that \
                were never delivered, the command asks.
                """)

        @OptionGroup var options: GatewayOptions
        @Argument(help: "Numbers of deliveries.") var ids: [Int64] = []
        @Option(help: "All that are delivered, dead, expired, or waiting.") var state: DeliveryRecord.State?
        @Option(help: "Only those to this destination.") var destination: String?
        @Option(help: "Only those of events accepted longer ago than this, such as 30d.") var olderThan: String?
        @Flag(help: "Remove waiting deliveries without asking.") var yes = false

        func validate() throws {
            if ids.isEmpty, state == nil {
                throw ValidationError("Name deliveries by number, or say which with --state.")
            }
            if ids.count > 500 { throw ValidationError("Name at most 500 deliveries at once.") }
            if let olderThan, Duration(text: olderThan) == nil {
                throw ValidationError("\(olderThan) is no duration: write it as 30d, with ms, s, m, h or d.")
            }
        }

        func run() async throws {
            let queue = try Deliveries.queue(options)
            let age = olderThan.flatMap { Duration(text: $0) }
            let filter = DeliveryFilter(
                ids: ids.isEmpty ? nil : ids, state: state, destination: destination.map { DestinationName($0) },
                acceptedBefore: age.map { Date(timeIntervalSinceNow: -($0 / .seconds(1))) })
            let isAgreed = try await agrees(to: filter, in: queue)
            let count = try await Deliveries.orRefuse { () throws(StoreError) in
                try await queue.purge(filter, sparingWaiting: !isAgreed)
            }
            print("\(count) deliveries are removed")
            if !ids.isEmpty, count < ids.count { throw ExitCode.incomplete }
        }

        /// Whether waiting deliveries may be removed too. Asks when there are some; without a terminal it refuses.
        private func agrees(to filter: DeliveryFilter, in queue: SQLiteQueue) async throws -> Bool {
            if yes { return true }
            let count = try await Deliveries.orRefuse { () throws(StoreError) in
                try await queue.undeliveredCount(filter)
            }
            guard count > 0 else { return false }
            guard isatty(STDIN_FILENO) == 1, StandardError.isTerminal else {
                throw refuse(
                    "\(count) of these deliveries were never delivered, so nothing was removed. Add --yes to remove them."
                )
            }
            StandardError.write("\(count) of these deliveries were never delivered. Remove them for good? [y/N] ")
            guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
                throw refuse("Nothing was removed.")
            }
            return true
        }
    }
}

extension DeliveryRecord.State: ExpressibleByArgument {}

extension DeliveryRecord {
    /// `hindrance`: the status of its destination. `wait`: its own reason to wait.
    fileprivate func row(behind hindrance: Hindrance?, wait: DeliveryWait?) -> String {
        func column(_ text: String, _ width: Int) -> String {
            text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
        }
        let next = state == .waiting && (due > Date() || reason != nil) ? Timestamp(due).text : nil
        var last = [next, reason].compactMap(\.self).joined(separator: " after: ")
        if state == .waiting, let hindrance, reason == nil || reason != hindrance.reason {
            let why = [hindrance.word, hindrance.reason].compactMap(\.self).joined(separator: ": ")
            last = [last, why].filter { !$0.isEmpty }.joined(separator: "; ")
        }
        if let words = wait?.ownWords { last = [last, words].filter { !$0.isEmpty }.joined(separator: "; ") }
        return [
            column(String(id), 8), column(state.rawValue, 9), column(String(attempts), 8),
            column(destination.name, 16), column(subject, 22), last,
        ].joined(separator: "  ")
    }

    fileprivate func json(_ wait: DeliveryWait?) -> String {
        var json = JSONWriter()
        json.delivery(self, wait: wait)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension DeliveryWait {
    /// Details that the destination's state and the time of the next attempt do not show.
    fileprivate var ownWords: String? {
        switch reason {
        case .inProgress: "attempt in progress"
        case .unknownDestination: "the config has no such destination"
        case .media: "waits for files" + (until.map { " until \(Timestamp($0).text)" } ?? "")
        case .scheduled: "scheduled"
        case .predecessor: detail
        case .rateLimit: "due, within the rate of its destination"
        case .paused, .disabled, .noPermission, .retry, .breakerOpen, .retryAfter, .queued: nil
        }
    }
}

extension AttemptRecord {
    fileprivate var json: String {
        var json = JSONWriter()
        json.attempt(self)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
