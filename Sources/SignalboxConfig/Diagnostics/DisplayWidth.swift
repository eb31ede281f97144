/// The columns that a character takes on a terminal. An approximation: terminals differ for new emoji.
enum DisplayWidth {
    /// 2 for wide characters of East Asian typesetting and emoji (Unicode Standard Annex 11), 0 for combining marks.
    static func columns(_ character: Character) -> Int {
        var columns = 0
        for scalar in character.unicodeScalars {
            // Variation selector 16 selects the emoji.
            columns = max(columns, scalar.value == 0xFE0F ? 2 : self.columns(scalar))
        }
        return columns
    }

    /// The columns of a scalar that stands alone. Everything below the combining marks has one column.
    private static func columns(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(scalar) ? 2 : 1
        }
    }

    /// Ranges of East Asian Wide and Fullwidth characters.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isEmojiPresentation { return true }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x17000...0x18CFF, 0x1B000...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
            return true
        default: return false
        }
    }
}
