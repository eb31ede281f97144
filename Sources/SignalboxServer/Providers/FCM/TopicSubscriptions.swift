import Foundation
import SignalboxEgress
import SignalboxNotification
import Synchronization

/// The topics that senders subscribed registrations to. Clients can query them; deliveries do not depend on them.
///
/// In memory, because the gateway does not expand topics: the events of a topic name the topic. A restart forgets
/// them, as clients subscribe again without effect. Registrations are stored as digests.
final class TopicSubscriptions: Sendable {
    // A class because the endpoints of all configs share it.
    /// The most topics of a registration (firebase.google.com, "Topic messaging").
    static let topicsPerRegistration = 2000
    /// The most subscriptions of all registrations. Beyond it, all registrations are dropped except for those that
    /// changed last.
    private static let mostSubscriptions = 200_000

    /// A registration as one source knows it.
    struct Registration: Hashable, Sendable {
        /// Sources that know the same device do not see each other's subscriptions.
        private let source: SourceName
        private let digest: [UInt8]

        /// `token`: the registration token or installation id, in clear.
        init(_ token: String, from source: SourceName) {
            self.source = source
            digest = sha256(Array(token.utf8))
        }
    }

    /// The result of an attempt to add or remove a subscription.
    enum Change: Sendable, Equatable {
        case done
        /// The registration has the topic already, or does not have it.
        case unchanged
        /// The registration has ``topicsPerRegistration``; the topic was not added.
        case tooManyTopics
    }

    /// Two generations: when the young one has half of ``mostSubscriptions``, it replaces the old one.
    private struct Content: Sendable {
        private var young: [Registration: [String: Date]] = [:]
        private var old: [Registration: [String: Date]] = [:]
        /// Subscriptions in the young generation.
        private var count = 0

        /// Empty for an unknown registration.
        func topics(of registration: Registration) -> [String: Date] {
            young[registration] ?? old[registration] ?? [:]
        }

        /// Changes the topics of a registration in place: a change takes the same time for few and many topics.
        mutating func change<R>(_ registration: Registration, _ body: (inout [String: Date]) -> R) -> R {
            // A registration is in one generation. Its topics leave the table, which would otherwise share them.
            let isYoung = young[registration] != nil
            var topics =
                (isYoung ? young.removeValue(forKey: registration) : old.removeValue(forKey: registration)) ?? [:]
            if isYoung { count -= topics.count }
            let result = body(&topics)
            guard !topics.isEmpty else { return result }
            count += topics.count
            young[registration] = topics
            if count > TopicSubscriptions.mostSubscriptions / 2 { (old, young, count) = (young, [:], 0) }
            return result
        }
    }

    private let content = Mutex(Content())

    /// `now`: the time of the subscription, if it is new.
    func add(_ topic: String, to registration: Registration, at now: Date) -> Change {
        content.withLock { content in
            guard content.topics(of: registration)[topic] == nil else { return .unchanged }
            return content.change(registration) { topics in
                guard topics.count < Self.topicsPerRegistration else { return .tooManyTopics }
                topics[topic] = now
                return .done
            }
        }
    }

    /// Removes a subscription.
    func remove(_ topic: String, from registration: Registration) -> Change {
        content.withLock { content in
            guard content.topics(of: registration)[topic] != nil else { return .unchanged }
            return content.change(registration) { topics in
                topics[topic] = nil
                return .done
            }
        }
    }

    /// The topics of a registration by name, with the times of their subscriptions.
    func topics(of registration: Registration) -> [(topic: String, since: Date)] {
        let topics = content.withLock { $0.topics(of: registration) }
        return topics.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
