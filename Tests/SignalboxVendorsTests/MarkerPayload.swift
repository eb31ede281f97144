@testable import SignalboxNotification

/// A payload that satisfies a marker and contains nothing else of its vendor.
struct MarkerPayload {
    let bytes: [UInt8]

    /// Values of other types and forms, as JSON.
    static let others = [
        "7", "-1.5", "true", #""""#, #""word""#, #""two words""#, #""https://shop.example.com/sale""#, #""@name""#,
        #""{}""#, #""[]""#, #""{\"k\":\"v\"}""#, "{}", #"{"k":"v"}"#, #"{"id":7,"title":"T","message":"M"}"#, "[]",
        #"["word"]"#, #"[{"id":"a","title":"A"}]"#,
    ]

    /// `position`, `other`: the condition whose value is replaced, and the replacement.
    init(_ marker: CatalogueMarker, replacing position: Int? = nil, by other: String = "null") {
        var root = Node.object([:])
        let isFCM = marker.conditions.contains { $0.scope == .fcm }
        let isRoot = marker.conditions.contains { $0.scope == .payload }
        for (index, condition) in marker.conditions.enumerated() where !condition.test.acceptsAbsence {
            let value = index == position ? other : condition.test.sample
            root.set(condition.steps[...], to: value)
        }
        if !isFCM, !isRoot { root.set(["aps", "alert", "body"], to: #""x""#) }
        let text = root.json
        bytes = Array((isFCM ? #"{"to":"t","data":\#(text)}"# : text).utf8)
    }

    private indirect enum Node {
        case value(String)
        case object([String: Node])

        /// Of two values at one path, the first stays.
        mutating func set(_ steps: ArraySlice<String>, to json: String) {
            guard let key = steps.first else { return self = .value(json) }
            guard case .object(var members) = self else { return }
            var next = members[key] ?? (steps.count > 1 ? .object([:]) : .value(json))
            if steps.count > 1 { next.set(steps.dropFirst(), to: json) }
            members[key] = next
            self = .object(members)
        }

        var json: String {
            switch self {
            case .value(let json): json
            case .object(let members):
                if let each = members["*"] {
                    "[" + each.json + "]"
                } else {
                    "{"
                        + members.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value.json)"# }
                        .joined(separator: ",") + "}"
                }
            }
        }
    }
}

extension CatalogueCondition {
    fileprivate var steps: [String] {
        switch subject {
        case .keyPrefix(let prefix, _): [String(decoding: prefix, as: UTF8.self) + "x"]
        case .path(let path):
            path.tokens.map { token in
                switch token {
                case .key(let key): String(decoding: key, as: UTF8.self)
                case .each: "*"
                case .counted(let before, let after): String(decoding: before + [0x30] + after, as: UTF8.self)
                }
            }
        }
    }
}

extension CatalogueCondition.Test {
    /// A value that satisfies the condition, as JSON.
    fileprivate var sample: String {
        switch self {
        case .present, .filled, .scalar, .text, .absent, .unset, .blank: #""x""#
        case .integer: "7"
        case .among(let words): words.first.map { #""\#($0)""# } ?? #""x""#
        case .object, .filledObject: #"{"k":"v"}"#
        case .list: #"["x"]"#
        case .isTrue: "true"
        case .equals(let text), .equalsIgnoringCase(let text): #""\#(text)""#
        case .startsWith(let text): #""\#(text)x""#
        case .notAmong: #""another""#
        case .host(let host): #""https://\#(host)/x""#
        case .moreThan(let limit): "\(limit + 1)"
        case .form(.uuid, _): #""7d3a2c5e-1f0b-4a6d-9c8e-2b1a0f9e8d7c""#
        case .form(.ulid, _): #""01ARZ3NDEKTSV4RRFFQ69G5FAV""#
        case .form(.hex, let length): "\"" + String(repeating: "a", count: length ?? 8) + "\""
        case .form(.digits, let length): "\"" + String(repeating: "7", count: length ?? 8) + "\""
        case .form(.alphanumeric, let length), .form(.lettered, let length):
            "\"" + String(repeating: "x", count: length ?? 8) + "\""
        case .form(.url, _): #""https://a.example/x""#
        case .form(.dateTime, _): #""2026-03-01T00:00:00.000Z""#
        }
    }
}
