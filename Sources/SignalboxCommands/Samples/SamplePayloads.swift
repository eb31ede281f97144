internal import CResources
package import SignalboxJSON

/// Example payloads of every vendor that the gateway recognises, by kind.
package enum SamplePayloads {
    /// The examples of one vendor.
    package struct Vendor: Sendable {
        /// As events and `signalbox vendors` name the vendor.
        package let name: String
        /// The kind of each event and its payload; the vendor's usual one first.
        package let payloads: [(kind: String, payload: JSONText)]
    }

    /// Vendors with code first, then those of the catalogue in alphabetical order. The last one is `unknown`. Parsed
    /// once, when they are first needed. Traps for an embedded file that is not JSON.
    package static let vendors: [Vendor] = JSONParser.read(embedded: sb_payloads_json()) { root in
        root.members.map { name, kinds in
            Vendor(
                name: String(decoding: name, as: UTF8.self),
                payloads: kinds.members.map { (String(decoding: $0, as: UTF8.self), JSONText($1)) })
        }
    }

    /// The payload of a vendor; the usual one without a kind. Throws for an unknown name, with the nearest one. A kind
    /// of another vendor is unknown too.
    package static func payload(of vendor: String, _ kind: String?) throws(CommandFailure) -> JSONText {
        guard let found = vendors.first(where: { $0.name == vendor }) else {
            throw .refused(
                KnownNames.refusal("vendor", vendor, among: vendors.map(\.name), else: "Run signalbox send --list."))
        }
        guard let payload = kind.map({ kind in found.payloads.first { $0.kind == kind } }) ?? found.payloads.first
        else {
            let kinds = found.payloads.map(\.kind)
            throw .refused(
                KnownNames.refusal(
                    "kind", kind ?? "", among: kinds, else: "\(vendor) has \(kinds.joined(separator: ", "))."))
        }
        return payload.payload
    }

    /// A line for each vendor with its kinds, in columns.
    package static var lines: [String] {
        let width = vendors.map(\.name.count).max() ?? 0
        return vendors.map { vendor in
            vendor.name + String(repeating: " ", count: width + 2 - vendor.name.count)
                + vendor.payloads.map(\.kind).joined(separator: ", ")
        }
    }

    /// The vendors and their kinds as objects, one a line.
    package static var jsonLines: [String] {
        vendors.map { vendor in
            JSONText.members { json in
                json.member("vendor", vendor.name)
                json.member("kinds", vendor.payloads.map(\.kind))
            }
        }
    }
}
