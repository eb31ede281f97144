import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

/// Devices that request and report messages while their gateway is killed repeatedly. A device repeats a request with
/// its id until it is answered, as an app does. Each life brings a campaign with a cap over all users and a message
/// with a cap for each user.
struct InAppKillPlay: Sendable {
    let directory: String
    let kills: Int
    let seed: UInt64

    private static let campaignCap = 12
    private static let userCap = 2
    private static let users = 6
    /// Devices that act at the same time; each user has one of each.
    private static let sides = 4
    private static let policy = #""inapp": { "interval": "0s", "lease": "30m", "silence": "1h" },"#

    /// An app on a device, and the request that it repeats. A class because it outlives its tasks; one task has it at
    /// a time.
    private final class App: @unchecked Sendable {
        let device: String
        let user: String
        private var turn = 0
        private var offer: String?
        private var outcome = "shown"

        init(device: String, user: String) { (self.device, self.user) = (device, user) }

        /// Whether a request has no answer yet.
        var isBusy: Bool { offer != nil }

        /// Makes one request. Throws if it was not answered.
        func step(_ gateway: Gateway, _ seen: Seen) async throws {
            guard let offer else {
                let answer = try await gateway.buy(on: device, by: user, id: "t-\(turn)")
                seen.answered(answer.status)
                (self.offer, outcome) = (answer.json.offer, "shown")
                turn += 1
                return
            }
            let id = #","reportId":"\#(outcome)-\#(offer)","device":"\#(device)""#
            let answer = try await gateway.report(outcome, of: offer, more: id)
            seen.answered(answer.status)
            if outcome == "shown" { seen.acknowledged(offer) }
            (self.offer, outcome) = outcome == "shown" ? (offer, "dismissed") : (nil, "shown")
        }
    }

    /// The answers that apps received, and the events of the webhook. A class because all of them share it.
    private final class Seen: Sendable {
        struct State {
            var answers = 0
            var failures: [Int] = []
            var acknowledged: Set<String> = []
            /// By id of the event.
            var impressions: [String: Impression] = [:]
        }
        struct Impression { let offer, message, user: String }
        private let state = Mutex(State())

        var all: State { state.withLock { $0 } }
        var isComplete: Bool {
            state.withLock { $0.acknowledged.isSubset(of: $0.impressions.values.map(\.offer)) }
        }

        func answered(_ status: Int) {
            state.withLock { state in
                state.answers += 1
                if status != 200 { state.failures.append(status) }
            }
        }
        func acknowledged(_ offer: String) { state.withLock { _ = $0.acknowledged.insert(offer) } }
        func note(_ message: WebhookReceiver.Message) {
            guard let arrival = try? InAppArrival(message), arrival.kind == "impression" else { return }
            let impression = Impression(
                offer: arrival.data["offer"] as? String ?? "", message: arrival.data["message"] as? String ?? "",
                user: arrival.data["user"] as? String ?? "")
            state.withLock { $0.impressions[message.id ?? ""] = impression }
        }
    }

    func run() async throws {
        let seen = Seen()
        let apps = (0..<Self.sides).map { side in
            (0..<Self.users).map { App(device: "d-\(side)-\($0)", user: "u-\($0)") }
        }
        try await ReceivingServer.run(answer: { message in
            seen.note(message)
            return 204
        }) { receiver in
            let config = Gateway.config(to: receiver.url, more: Self.policy, attempts: 100, timeout: "120s")
            var random = SeededGenerator(seed: seed)
            for life in 0..<kills {
                let gateway = try await Gateway.start(in: directory, config: config)
                try await bring(life, to: gateway)
                let answers = seen.all.answers + Int.random(in: 0...80, using: &random)
                let turns = Int.random(in: 0...3000, using: &random)
                await load(gateway, apps, seen, killAfter: answers, turns: turns)
            }
            let last = try await Gateway.start(in: directory, config: config)
            for app in apps.joined() { while app.isBusy { try await app.step(last, seen) } }
            while !seen.isComplete { await Task.yield() }
            #expect(await last.stop() == 0)
        }
        check(seen.all)
        #expect(try await binary.run(["audit"], in: directory).status == 0)
    }

    /// The messages of one life. They replace those of an earlier one, whose caps stay.
    private func bring(_ life: Int, to gateway: Gateway) async throws {
        if life == 0 { try await gateway.register("endless", #","rank":900"#) }
        let caps = [("campaign", Self.campaignCap, "everyone", 100), ("personal", Self.userCap, "user", 200)]
        for (name, count, per, rank) in caps {
            let limits = #","rank":\#(rank),"limits":[{"count":\#(count),"per":"\#(per)","window":"lifetime"}]"#
            #expect(try await gateway.register("\(name)-\(life)", limits).status == 201)
        }
    }

    private func load(
        _ gateway: Gateway, _ apps: [[App]], _ seen: Seen, killAfter answers: Int, turns: Int
    ) async {
        await withTaskGroup { group in
            for side in apps {
                group.addTask {
                    do {
                        while true { for app in side { try await app.step(gateway, seen) } }
                    } catch {
                        // The gateway was killed; the app repeats its request in the next life.
                    }
                }
            }
            group.addTask {
                while seen.all.answers < answers { await Task.yield() }
                for _ in 0..<turns { await Task.yield() }
                await gateway.kill()
            }
        }
    }

    private func check(_ seen: Seen.State) {
        let impressions = Array(seen.impressions.values)
        print("\(seen.answers) answers, \(impressions.count) impressions, \(kills) kills, seed \(seed)")
        #expect(seen.failures.isEmpty, "seed \(seed)")
        #expect(!impressions.isEmpty)
        #expect(Set(impressions.map(\.offer)) == seen.acknowledged, "lost or invented, seed \(seed)")
        #expect(Set(impressions.map(\.offer)).count == impressions.count, "doubled, seed \(seed)")
        for (message, all) in Dictionary(grouping: impressions, by: \.message) {
            if message.hasPrefix("campaign") { #expect(all.count <= Self.campaignCap, "\(message), seed \(seed)") }
            guard message.hasPrefix("personal") else { continue }
            for (user, own) in Dictionary(grouping: all, by: \.user) {
                #expect(own.count <= Self.userCap, "\(message) to \(user), seed \(seed)")
            }
        }
    }
}
