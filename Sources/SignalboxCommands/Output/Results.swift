package import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxServer

/// The output of commands that print a registry, a key or the result of a check.
package enum Results {
    /// The vendors in the order of the detector chain, which decides between equal evidence: rows, or objects.
    package static func vendors(asJSON: Bool) -> [String] {
        let width = Vendors.profiles.map(\.vendor.name.count).max() ?? 0
        return Vendors.profiles.map { profile in
            let name = profile.vendor.name
            guard asJSON else { return TextTable.row([name, profile.looksFor], widths: [width]) }
            return JSONText.members { json in
                json.member("name", name)
                json.member("looksFor", profile.looksFor)
            }
        }
    }

    /// A new key: the secret and, on a second line, the public key of a pair.
    package static func key(_ key: NewWebhookKey, asJSON: Bool) -> String {
        guard asJSON else { return [key.secret, key.publicKey].compactMap(\.self).joined(separator: "\n") }
        return JSONText.members { json in
            json.member("secret", key.secret)
            json.member("publicKey", key.publicKey)
        }
    }

    /// The files of `certs new`, as the config refers to them.
    package static func certificates(_ authority: String, _ certificate: String, _ key: String, asJSON: Bool) -> String
    {
        guard asJSON else { return "ca: \(authority)\ncertificate: \(certificate)\nkey: \(key)" }
        return JSONText.members { json in
            json.member("ca", authority)
            json.member("certificate", certificate)
            json.member("key", key)
        }
    }

    /// The result of `routes check`, as `POST /v1/config/check` answers.
    package static func check(_ check: ConfigCheck) -> String {
        JSONText.members { $0.members(of: check, hidesContent: false) }
    }
}
