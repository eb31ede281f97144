import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// The locks of the rows that a group of decisions changes.
extension InAppKeys {
    /// The locks of devices and users, in the order in which every node takes them. An anonymous user shares the lock
    /// of its device.
    func locksOfOwners(in schema: String?) -> [Int64] {
        let devices = devices.map { Self.lock("device", $0, schema) }
        let users = users.map { user in
            AnonymousUser.device(of: user).map { Self.lock("device", $0, schema) } ?? Self.lock("user", user, schema)
        }
        return Set(devices + users).sorted()
    }

    /// The locks of tallies, in their order. Taken after those of owners.
    func locksOfTallies(in schema: String?) -> [Int64] { Set(tallies.map { Self.lock("tally", $0, schema) }).sorted() }

    /// Held by one step of upkeep at a time. Taken before the locks of owners.
    static func lockOfUpkeep(in schema: String?) -> Int64 { lock("upkeep", "", schema) }

    /// Locks belong to the transaction, and are those of the whole database: gateways in other schemas have other ones.
    /// Nodes take them in the order of the numbers. Locks end with the transaction. Waiting for one ends after 2 s
    /// (`lock_timeout`), and the transaction is run again.
    static let lockAll = "SELECT pg_advisory_xact_lock(lock) FROM unnest($1) AS lock"

    /// FNV-1a with 64 bits: the same number on every node. Two keys with one number share their lock, which is
    /// harmless.
    private static func lock(_ kind: String, _ key: String, _ schema: String?) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in [schema ?? "", kind, key] {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            // Between the texts: no byte of UTF-8.
            hash = (hash ^ 0xff) &* 0x100_0000_01b3
        }
        return Int64(bitPattern: hash)
    }
}

extension AnonymousUser {
    /// Nil for a user with an id of its own. The inverse of `AnonymousUser.id(on:)`.
    static func device(of user: UserID) -> DeviceID? {
        let prefix = id(on: "").utf8
        return user.utf8.starts(with: prefix) ? String(user.utf8.dropFirst(prefix.count)) : nil
    }
}
