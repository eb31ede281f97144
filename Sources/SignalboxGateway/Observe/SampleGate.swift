import Synchronization

/// Decides which events the live view has: 200 a second, and 5 a second of each key besides, so that a rare vendor
/// appears while another one sends thousands.
///
/// A class because all threads ask it. It takes no lock that all threads share, and writes nothing for most events of
/// a flood.
final class SampleGate<Key: Hashable & Sendable>: Sendable {
    /// The most keys with a rate of their own. Further keys share one.
    static var mostKeys: Int { 200 }

    private let common: AtomicBucket
    private let perKey: Double
    private let shards = Sharded<[Key: AtomicBucket]>([:])
    /// Asked once for each key and shard.
    private let buckets = Mutex<[Key: AtomicBucket]>([:])
    private let others: AtomicBucket

    /// `perSecond`: for all keys together. `perKey`: for each key besides.
    init(perSecond: Double = 200, perKey: Double = 5) {
        common = AtomicBucket(perSecond: perSecond)
        self.perKey = perKey
        others = AtomicBucket(perSecond: perKey)
    }

    /// True if the live view has the next event of a key. Takes its token. `now`: nanoseconds of one clock.
    func admits(_ key: Key, at now: Int64) -> Bool { common.take(at: now) || bucket(of: key).take(at: now) }

    private func bucket(of key: Key) -> AtomicBucket {
        shards.withCurrent { known in
            if let bucket = known[key] { return bucket }
            let bucket = shared(key)
            // Names of vendors and destinations come from the config; the bound does not depend on it.
            if bucket !== others { known[key] = bucket }
            return bucket
        }
    }

    private func shared(_ key: Key) -> AtomicBucket {
        buckets.withLock { buckets in
            if let bucket = buckets[key] { return bucket }
            guard buckets.count < Self.mostKeys else { return others }
            let bucket = AtomicBucket(perSecond: perKey)
            buckets[key] = bucket
            return bucket
        }
    }
}

/// A token bucket of one second's worth, in one atomic number: the time at which the bucket is full again (GCRA, ITU-T
/// I.371). Refusing reads one number and writes none.
final class AtomicBucket: Sendable {
    // A class because threads share the number.
    private let full = Atomic<Int64>(.min / 2)
    private let interval: Int64
    /// How far ``full`` may lie ahead for a token to be left.
    private let tolerance: Int64

    /// `perSecond`: above zero. The bucket is full at first and holds at least one token.
    init(perSecond: Double) {
        interval = Int64(1_000_000_000 / perSecond)
        tolerance = max(0, 1_000_000_000 - interval)
    }

    /// Takes a token; false if there is none. `now`: nanoseconds of one clock that never jumps.
    func take(at now: Int64) -> Bool {
        var seen = full.load(ordering: .relaxed)
        while true {
            let base = max(seen, now)
            guard base - now <= tolerance else { return false }
            let (isExchanged, original) = full.compareExchange(
                expected: seen, desired: base + interval, ordering: .relaxed)
            if isExchanged { return true }
            seen = original
        }
    }
}
