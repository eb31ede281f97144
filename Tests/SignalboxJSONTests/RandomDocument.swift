import SignalboxJSON
import SignalboxTesting

/// A random JSON document that can be written in several layouts.
indirect enum RandomDocument {
    case object([(key: String, value: RandomDocument)])
    case array([RandomDocument])
    case string(String)
    case literal(String)

    enum Layout: CaseIterable {
        case minified, spaced, indented, tabbed
    }

    /// An object, as payloads are.
    init(using random: inout SeededGenerator) {
        self = .object(Self.members(using: &random, depth: 4))
    }

    /// Any value.
    static func value(using random: inout SeededGenerator, depth: Int) -> RandomDocument {
        switch Int.random(in: 0...(depth > 0 ? 9 : 6), using: &random) {
        case 0...2: .string(text(using: &random))
        case 3...6: .literal(literal(using: &random))
        case 7, 8: .object(members(using: &random, depth: depth - 1))
        default:
            .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(using: &random, depth: depth - 1) })
        }
    }

    private static func members(
        using random: inout SeededGenerator, depth: Int
    ) -> [(key: String, value: RandomDocument)] {
        var members: [(key: String, value: RandomDocument)] = []
        for number in 0..<Int.random(in: 0...4, using: &random) {
            members.append((text(using: &random) + String(number), value(using: &random, depth: depth)))
        }
        return members
    }

    /// Control characters, quotes, backslashes, brackets and characters of every length in UTF-8.
    static func text(using random: inout SeededGenerator) -> String {
        let scalars: [Unicode.Scalar] = [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "/", "\n", "\r", "\t", "\u{8}", "\u{C}", "\u{0}", "\u{1F}",
            "\u{7F}", "\u{80}", "é", "\u{7FF}", "\u{800}", "€", "\u{FEFF}", "\u{FFFF}", "\u{10000}", "🎉", "\u{10FFFF}",
            "\u{2028}", " ",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...24, using: &random) {
            let isPlain = Bool.random(using: &random)
            let plain = Unicode.Scalar(UInt8.random(in: 0x61...0x7A, using: &random))
            text.append(isPlain ? plain : scalars.randomElement(using: &random) ?? plain)
        }
        return String(text)
    }

    private static func literal(using random: inout SeededGenerator) -> String {
        switch Int.random(in: 0...6, using: &random) {
        case 0: return "null"
        case 1: return "true"
        case 2: return "false"
        case 3: return String(Int64.random(in: .min ... .max, using: &random))
        case 4: return String(UInt64.random(in: UInt64(Int64.max)...(.max), using: &random))
        case 5: return String(Int.random(in: -9...9, using: &random))
        default:
            let number = Double(bitPattern: random.next())
            return number.isFinite ? number.description : "0.5"
        }
    }

    // MARK: Text

    func text(_ layout: Layout) -> [UInt8] {
        var text = ""
        write(to: &text, layout, indentation: 0)
        return Array(text.utf8)
    }

    private func write(to text: inout String, _ layout: Layout, indentation: Int) {
        switch self {
        case .object(let members):
            Self.write(members, "{", "}", to: &text, layout, indentation) { member, text in
                Self.write(member.key, to: &text)
                text += layout == .minified ? ":" : layout == .spaced ? " : " : ": "
                member.value.write(to: &text, layout, indentation: indentation + 1)
            }
        case .array(let elements):
            Self.write(elements, "[", "]", to: &text, layout, indentation) { element, text in
                element.write(to: &text, layout, indentation: indentation + 1)
            }
        case .string(let string): Self.write(string, to: &text)
        case .literal(let literal): text += literal
        }
    }

    private static func write<T>(
        _ items: [T], _ open: String, _ close: String, to text: inout String, _ layout: Layout, _ indentation: Int,
        _ write: (T, inout String) -> Void
    ) {
        func lineBreak(_ levels: Int) -> String {
            switch layout {
            case .minified: ""
            case .spaced: " "
            case .indented: "\n" + String(repeating: "  ", count: levels)
            case .tabbed: "\r\n" + String(repeating: "\t", count: levels)
            }
        }
        text += open
        for (position, item) in items.enumerated() {
            text += (position > 0 ? "," : "") + lineBreak(indentation + 1)
            write(item, &text)
        }
        text += (items.isEmpty ? "" : lineBreak(indentation)) + close
    }

    private static func write(_ string: String, to text: inout String) {
        var writer = JSONWriter()
        writer.string(string)
        text += String(decoding: writer.bytes, as: UTF8.self)
    }
}
