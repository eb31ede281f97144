import SignalboxJSON

/// The numbered keys of Braze's Android payloads, `ab_a0_id`, `ab_c1_i` and so on, found in one pass over the keys.
struct BrazeSlots {
    struct Button {
        var identifier, title, type, link, usesWebView: JSONValue?

        var anything: JSONValue? { identifier ?? title ?? type ?? link ?? usesWebView }
    }

    struct Page {
        var image, title, subtitle, link: JSONValue?
    }

    private(set) var buttons: [Button] = []
    private(set) var pages: [Page] = []

    init(_ payload: borrowing PlatformPayload) {
        payload.fields.forEach { key, value in
            if key.hasPrefix("ab_a") { readButton(key, value) } else if key.hasPrefix("ab_c") { readPage(key, value) }
        }
        shownButtons = buttons.prefix { $0.type?.hasText == true }
        shownPages = pages.prefix { $0.image?.hasText == true }
    }

    private mutating func readButton(_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
        guard let (index, field) = Self.split(key) else { return }
        while buttons.count <= index { buttons.append(Button()) }
        if field.equals("_id") { buttons[index].identifier = value }
        if field.equals("_t") { buttons[index].title = value }
        if field.equals("_a") { buttons[index].type = value }
        if field.equals("_uri") { buttons[index].link = value }
        if field.equals("_use_webview") { buttons[index].usesWebView = value }
    }

    private mutating func readPage(_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
        guard let (index, field) = Self.split(key) else { return }
        while pages.count <= index { pages.append(Page()) }
        if field.equals("_i") { pages[index].image = value }
        if field.equals("_t") { pages[index].title = value }
        if field.equals("_st") { pages[index].subtitle = value }
        if field.equals("_uri") { pages[index].link = value }
    }

    /// The SDK stops at the first slot without a type, so those behind a gap are never shown.
    private(set) var shownButtons: ArraySlice<Button> = []

    /// As above, with the first page without a picture.
    private(set) var shownPages: ArraySlice<Page> = []

    /// True for a numbered key that something shown was read from.
    func areRead(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let isButton = key.hasPrefix("ab_a")
        guard isButton || key.hasPrefix("ab_c"), let (index, field) = Self.split(key) else { return false }
        guard isButton else {
            return index < shownPages.count
                && (field.equals("_i") || field.equals("_t") || field.equals("_st") || field.equals("_uri"))
        }
        return index < shownButtons.count
            && (field.equals("_id") || field.equals("_t") || field.equals("_a") || field.equals("_uri")
                || field.equals("_use_webview"))
    }

    /// The number behind the four letters of the prefix, and what follows it. Three digits are plenty: a larger number
    /// could not be reached without a thousand slots before it.
    private static func split(
        _ key: UnsafeBufferPointer<UInt8>
    ) -> (index: Int, field: UnsafeBufferPointer<UInt8>)? {
        var index = 0
        var cursor = 4
        while cursor < key.count, case let digit = key[cursor] &- UInt8(ascii: "0"), digit < 10 {
            index = index * 10 + Int(digit)
            cursor += 1
            if index >= longestList { return nil }
        }
        guard cursor > 4 else { return nil }
        return (index, UnsafeBufferPointer(rebasing: key[cursor...]))
    }
}
