import Foundation
import HTTPTypes
import SignalboxEgress

/// The parts of a request's head that decide its access.
struct Credentials: Sendable {
    /// The Host field, or the authority of an absolute target.
    let authority: String?
    /// The Origin field, which browsers set (RFC 6454, 7).
    let origin: String?
    /// The field as sent, with its scheme; a secret.
    let authorization: String?
    /// Whether a proxy sent the request on, so that its client may be on another machine.
    var isForwarded = false
    /// The Sec-Fetch-Site field, which browsers set (Fetch Metadata Request Headers, 2.3).
    var site: String?

    /// Fields that proxies add, in lower case.
    static let forwardingFields = ["forwarded", "via", "x-forwarded-for", "x-real-ip"]

    /// False for a request that a page of another site made a browser send, or that names another host (DNS rebinding).
    /// Both reach a loopback address although their author cannot.
    ///
    /// The origin of a page decides if the browser sends it: a page of this machine has a loopback origin. Browsers
    /// leave it out of most reads, such as those of images and links. Then the site decides, and only the gateway's own
    /// pages and addresses that a user enters count, because a site does not say which machine it is on.
    var isFromThisMachine: Bool {
        if let authority, !Self.isLoopback(authority) { return false }
        guard let origin else { return site == nil || site == "same-origin" || site == "none" }
        return Self.isLoopback(origin.replacing("http://", with: "").replacing("https://", with: ""))
    }

    /// Compares every token, in constant time, and returns all values whose token the request presents. Takes the same
    /// time for every token of equal length, whether it matches or not.
    func granted<Value>(of tokens: [(value: Value, token: [UInt8])]) -> [Value] {
        let presented = bearerToken
        return tokens.filter { equalInConstantTime($0.token, presented) }.map(\.value)
    }

    /// Empty when there is none. The case of the scheme does not matter (RFC 9110, 11.1).
    private var bearerToken: [UInt8] {
        let parts = (authorization ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return [] }
        return Array(parts[1].trimmingCharacters(in: .whitespaces).utf8)
    }

    /// `name`: a host, with or without a port. False for text of another form. Names other than `localhost` are not
    /// resolved.
    static func isLoopback(_ name: String) -> Bool {
        // A short path for the usual names, because every request is checked.
        for prefix in ["127.0.0.1:", "localhost:"] where name.utf8.starts(with: prefix.utf8) {
            let port = name.utf8.dropFirst(prefix.utf8.count)
            if (1...5).contains(port.count), port.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) {
                return true
            }
        }
        // Hosts are compared without case, and a port may be empty (RFC 9110, 4.2.3; RFC 3986, 3.2.3).
        let name = (name.hasSuffix(":") ? String(name.dropLast()) : name).lowercased()
        let hasPort = name.hasPrefix("[") ? !name.hasSuffix("]") : name.contains(":")
        return ListenAddress(hasPort ? name : name + ":0")?.isLoopback ?? false
    }
}

extension Credentials {
    /// The authority of HTTP types is the Host field of HTTP/1.1.
    init(_ head: HTTPRequest) {
        self.init(
            authority: head.authority, origin: head.headerFields[.origin],
            authorization: head.headerFields[.authorization],
            isForwarded: Self.forwardingFields.contains { head.headerFields[text: $0] != nil },
            site: head.headerFields[text: "sec-fetch-site"])
    }
}
