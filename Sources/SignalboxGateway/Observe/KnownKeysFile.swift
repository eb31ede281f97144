import Foundation
import SignalboxJSON
import SignalboxNotification

/// The file in the data directory that has the record of ``KeyDrift``, so that a restart does not make all keys new.
///
/// Written as a whole under another name and renamed. It is not synced: a power cut may lose the last minute, or on
/// some file systems the content. A new record replaces an unreadable file.
struct KnownKeysFile: Sendable {
    let path: String

    /// Bytes of the largest file that is read; a record of all vendors with all their pointers is smaller.
    private static let limit = 64 * 1024 * 1024

    enum Failure: Error, Equatable, CustomStringConvertible {
        case unreadable
        /// With the system's reason.
        case unwritable(String)

        var description: String {
            switch self {
            case .unreadable: "it has another form"
            case .unwritable(let reason): reason
            }
        }
    }

    /// The record; nil without a file. Throws ``Failure/unreadable`` for a file of another form.
    func read() throws(Failure) -> KeyDrift.Snapshot? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let data = FileManager.default.contents(atPath: path), data.count <= Self.limit else {
            throw .unreadable
        }
        var limits = JSONParser.Limits()
        limits.bytes = Self.limit
        guard let snapshot = JSONParser.read(Array(data), limits: limits, Self.snapshot) else { throw .unreadable }
        return snapshot
    }

    /// Nil for a text of another form.
    private static func snapshot(_ root: JSONValue) -> KeyDrift.Snapshot? {
        guard root["version"]?.integer == 1, let vendors = root["vendors"], vendors.isObject,
            let since = root["since"]?.integer.flatMap({ Timestamp(milliseconds: $0) })
        else { return nil }
        var snapshot = KeyDrift.Snapshot(since: since.date)
        for (name, vendor) in vendors.members {
            guard snapshot.vendors.count < KeyDrift.mostVendors, let keys = vendor["keys"], keys.isObject else {
                continue
            }
            var known: [String: VendorKeys.Key] = [:]
            for (pointer, key) in keys.members where pointer.count <= KeyPointers.longest {
                guard let firstSeen = key["firstSeen"]?.integer, let count = key["count"]?.integer,
                    let type = key["type"]?.string.flatMap({ KeyType(rawValue: $0) })
                else { continue }
                known[String(decoding: pointer, as: UTF8.self)] = .init(
                    firstSeen: firstSeen, count: Self.count(count), type: type)
            }
            let folded = Self.count(vendor["folded"]?.integer ?? 0)
            snapshot.vendors[String(decoding: name, as: UTF8.self)] = VendorKeys(known: known, folded: folded)
        }
        return snapshot
    }

    /// Far below the largest number: each sighting adds one.
    private static func count(_ number: Int64) -> Int { Int(min(max(number, 0), 1 << 53)) }

    /// Replaces the file. Readable by its owner only.
    func write(_ snapshot: KeyDrift.Snapshot) throws(Failure) {
        let text = [UInt8].jsonObject(capacity: 64 * 1024) { json in
            json.member("version", 1)
            json.member("since", Int64(snapshot.since.timeIntervalSince1970 * 1000))
            json.object("vendors", of: snapshot.vendors) { Self.write($1, into: &$0) }
        }
        let new = path + ".new"
        guard
            FileManager.default.createFile(
                atPath: new, contents: Data(text), attributes: [.posixPermissions: 0o600])
        else { throw .unwritable(String(cString: strerror(errno))) }
        guard rename(new, path) == 0 else { throw .unwritable(String(cString: strerror(errno))) }
    }

    private static func write(_ vendor: VendorKeys, into json: inout JSONWriter) {
        json.object { json in
            json.member("folded", vendor.folded)
            json.object("keys", of: vendor.known) { json, key in
                json.object { json in
                    json.member("firstSeen", key.firstSeen)
                    json.member("count", key.count)
                    json.member("type", key.type.rawValue)
                }
            }
        }
    }
}
