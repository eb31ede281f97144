import Foundation
import SignalboxJSON

/// A slow reference implementation of patterns that follows Event Ruler's own algorithm (`Event`, `ACFinder`,
/// `ArrayMembership`). An event is a list of fields in the order of their names, each with the array elements it is
/// in. A rule goes through its fields in the same order and may not use two elements of one array.
struct RulerModel {
    /// One for each alternative of the pattern's `$or`s.
    private let rules: [[(path: [String], entries: [JSONValue])]]

    /// `pattern`: valid in a config. It must live as long as this.
    init(_ pattern: JSONValue) {
        rules = Self.rules(pattern, at: []).map { rule in
            rule.sorted { Self.name($0.path).utf16.lexicographicallyPrecedes(Self.name($1.path).utf16) }
        }
    }

    func matches(_ event: JSONValue) -> Bool {
        var fields: [Field] = []
        var arrays = 0
        Self.flatten(event, at: [], in: [:], &arrays, &fields)
        return rules.contains { Self.matches($0[...], fields, soFar: [:]) }
    }

    // MARK: The event

    private struct Field {
        let path: [String]
        let value: JSONValue
        /// For each array the element that this is in, without an array whose element it is itself.
        let membership: [Int: Int]
    }

    private static func flatten(
        _ value: JSONValue, at path: [String], in membership: [Int: Int], _ arrays: inout Int, _ fields: inout [Field]
    ) {
        if value.isObject {
            value.forEachMember { key, member in
                flatten(member, at: path + [String(decoding: key, as: UTF8.self)], in: membership, &arrays, &fields)
            }
        } else if value.isArray {
            let array = arrays
            arrays += 1
            for (index, element) in value.elements.enumerated() {
                var inner = membership
                if element.isObject || element.isArray { inner[array] = index }
                flatten(element, at: path, in: inner, &arrays, &fields)
            }
        } else {
            fields.append(Field(path: path, value: value, membership: membership))
        }
    }

    // MARK: The rule

    /// Compares bytes: strings of Swift are equal if they are canonically equivalent.
    private static func isSame(_ left: [String], _ right: [String]) -> Bool {
        left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
    }

    private static func name(_ path: [String]) -> String { path.joined(separator: ".") }

    private static func rules(_ object: JSONValue, at path: [String]) -> [[(path: [String], entries: [JSONValue])]] {
        var rules: [[(path: [String], entries: [JSONValue])]] = [[]]
        for (key, value) in object.members {
            let name = String(decoding: key, as: UTF8.self)
            var more: [[(path: [String], entries: [JSONValue])]]
            if value.isObject {
                more = self.rules(value, at: path + [name])
            } else if name == "$or", value.elements.allSatisfy(\.isObject), !value.elements.allSatisfy(isComparison) {
                more = value.elements.flatMap { self.rules($0, at: path) }
            } else {
                more = [[(path + [name], Array(value.elements))]]
            }
            rules = rules.flatMap { left in more.map { left + $0 } }
        }
        return rules
    }

    private static func isComparison(_ object: JSONValue) -> Bool {
        let words: Set = [
            "exactly", "prefix", "suffix", "equals-ignore-case", "wildcard", "anything-but", "numeric", "cidr",
            "exists",
        ]
        return object.members.allSatisfy { words.contains(String(decoding: $0.key, as: UTF8.self)) }
    }

    private static func matches(
        _ rule: ArraySlice<(path: [String], entries: [JSONValue])>, _ fields: [Field], soFar: [Int: Int]
    ) -> Bool {
        guard let (path, entries) = rule.first else { return true }
        let consistent = fields.filter { field in
            isSame(field.path, path) && field.membership.allSatisfy { soFar[$0.key] ?? $0.value == $0.value }
        }
        let asksForNothing = entries.contains { $0["exists"]?.bool == false }
        if asksForNothing, consistent.isEmpty, matches(rule.dropFirst(), fields, soFar: soFar) { return true }
        return consistent.contains { field in
            entries.contains { EntryModel.matches($0, field.value) }
                && matches(rule.dropFirst(), fields, soFar: soFar.merging(field.membership) { $1 })
        }
    }
}

/// Whether a value meets one entry of a field's array.
enum EntryModel {
    static func matches(_ entry: JSONValue, _ value: JSONValue) -> Bool {
        guard entry.isObject else { return isSame(entry, value, addresses: true) }
        guard let (key, operand) = entry.members.first(where: { _ in true }) else { return false }
        switch String(decoding: key, as: UTF8.self) {
        case "exists": return operand.bool == true
        case "anything-but": return !isUnwanted(value, by: operand)
        case "exactly": return isSame(operand, value, addresses: false)
        case "numeric": return isWithin(value, Array(operand.elements))
        case "cidr": return isWithin(value, operand.string ?? "")
        case let word:
            guard let text = value.string else { return false }
            return matches(word, operand, text)
        }
    }

    private static func matches(_ word: String, _ operand: JSONValue, _ text: String) -> Bool {
        let bytes = Array(text.utf8)
        switch (word, operand.string, operand["equals-ignore-case"]?.string) {
        case ("prefix", let wanted?, _): return bytes.starts(with: Array(wanted.utf8))
        case ("suffix", let wanted?, _): return bytes.reversed().starts(with: Array(wanted.utf8).reversed())
        case ("prefix", _, let wanted?): return spellings(wanted).contains { bytes.starts(with: $0) }
        case ("suffix", _, let wanted?):
            return spellings(wanted).contains { bytes.reversed().starts(with: $0.reversed()) }
        case ("equals-ignore-case", let wanted?, _): return spellings(wanted).contains(bytes)
        case ("wildcard", let wanted?, _): return wild(Array(wanted.utf8)[...], bytes[...])
        default: return false
        }
    }

    /// Every spelling of a text with each character in lower or upper case.
    private static func spellings(_ text: String) -> Set<[UInt8]> {
        text.unicodeScalars.reduce([[]]) { spellings, scalar in
            let own = [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping]
            return Set(spellings.flatMap { start in own.map { start + Array($0.utf8) } })
        }
    }

    private static func wild(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == UInt8(ascii: "*") {
            return wild(pattern.dropFirst(), text) || (!text.isEmpty && wild(pattern, text.dropFirst()))
        }
        let wanted = first == UInt8(ascii: "\\") ? pattern.dropFirst() : pattern
        return text.first == wanted.first && wild(wanted.dropFirst(), text.dropFirst())
    }

    private static func isUnwanted(_ value: JSONValue, by operand: JSONValue) -> Bool {
        if operand.isArray { return operand.elements.contains { isSame($0, value, addresses: false) } }
        guard operand.isObject, let (key, inner) = operand.members.first(where: { _ in true }) else {
            return isSame(operand, value, addresses: false)
        }
        guard let text = value.string else { return false }
        let wanted = inner.isArray ? Array(inner.elements) : [inner]
        return wanted.contains { matches(String(decoding: key, as: UTF8.self), $0, text) }
    }

    private static func isSame(_ wanted: JSONValue, _ value: JSONValue, addresses: Bool) -> Bool {
        if let wanted = wanted.string {
            guard let text = value.string else { return false }
            if addresses, let address = address(wanted) { return address == self.address(text) }
            return Array(wanted.utf8) == Array(text.utf8)
        }
        if wanted.isNull || value.isNull { return wanted.isNull && value.isNull }
        if wanted.bool != nil || value.bool != nil { return wanted.bool == value.bool }
        switch (comparable(wanted), comparable(value)) {
        case (let left?, let right?): return left == right
        case (nil, nil): return !value.isString && wanted.integer == value.integer && wanted.unsigned == value.unsigned
        default: return false
        }
    }

    private static func comparable(_ value: JSONValue) -> Double? {
        guard let double = value.double else { return nil }
        if value.kind == .integer { return Int64(exactly: double) == value.integer ? double : nil }
        if value.kind == .unsigned { return UInt64(exactly: double) == value.unsigned ? double : nil }
        return double
    }

    private static func isWithin(_ value: JSONValue, _ parts: [JSONValue]) -> Bool {
        guard let number = comparable(value) else { return false }
        return stride(from: 0, to: parts.count, by: 2).allSatisfy { position in
            guard let bound = parts[position + 1].double else { return false }
            switch parts[position].string {
            case "=": return number == bound
            case "<": return number < bound
            case "<=": return number <= bound
            case ">": return number > bound
            default: return number >= bound
            }
        }
    }

    private static func isWithin(_ value: JSONValue, _ block: String) -> Bool {
        let parts = block.split(separator: "/").map { String($0) }
        guard let text = value.string, let address = address(text), let base = self.address(parts[0]),
            let length = Int(parts[1])
        else { return false }
        return address.count == base.count && address.prefix(length) == base.prefix(length)
    }

    /// The bits of an address, as the system parses it.
    private static func address(_ text: String) -> String? {
        if text.contains(":") {
            var six = in6_addr()
            guard !text.contains("."), inet_pton(AF_INET6, text, &six) == 1 else { return nil }
            let all = withUnsafeBytes(of: six) { $0.map { bits($0) }.joined() }
            let mapped = String(repeating: "0", count: 80) + String(repeating: "1", count: 16)
            return all.hasPrefix(mapped) ? String(all.dropFirst(96)) : all
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy(\.isNumber) ? UInt8(part) : nil }
        return parts.count == 4 && numbers.count == 4 ? numbers.map { bits($0) }.joined() : nil
    }

    private static func bits(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 2)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
