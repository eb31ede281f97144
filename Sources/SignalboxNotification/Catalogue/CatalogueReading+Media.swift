import SignalboxJSON

/// Media and carousels.
extension CatalogueReading {
    /// Reads every field; skips URLs that the platform's own block contains. Values that are not strings are skipped
    /// without a warning. Keys that count up end at the first number without a URL. A repeated URL is added once, in
    /// its first role.
    mutating func readMedia(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        guard !fields.media.isEmpty else { return }
        var known = KnownLinks()
        for media in notification.media { known.insert(media.url) }
        for position in fields.media.indices where payload.mayHave(fields.media[position].url) {
            let field = fields.media[position]
            let isCounted = field.url.isCounted
            for count in isCounted ? field.first..<field.first + Self.longestCount : 0..<1 {
                let links = links(field.url, count, payload)
                if links.isEmpty { break }
                let type = field.type.isEmpty ? nil : contentType(field.type, payload)
                for link in links {
                    consumed.insert(link)
                    guard let text = link.text else { continue }
                    let url = trimsLinks ? text.trimmed : text
                    if known.insert(url) { notification.addMedia(at: url, as: field.role, contentType: type) }
                }
            }
        }
    }

    /// The most elements under keys that count up.
    static let longestCount = 100

    /// The links of the first alternative that has links; it may lead to a string or to a list of strings.
    private mutating func links(
        _ paths: CataloguePaths, _ count: Int, _ payload: borrowing PlatformPayload
    ) -> [JSONValue] {
        for path in paths.all {
            var links: [JSONValue] = []
            for value in payload.values(at: path, count: count, by: path.isCounted ? members : nil) {
                if value.isWebLink(trimmed: trimsLinks) { links.append(value) }
                links += value.elements.prefix(longestList).filter { $0.isWebLink(trimmed: trimsLinks) }
            }
            if !links.isEmpty { return Array(links.prefix(longestList)) }
        }
        return []
    }

    /// The MIME type of the first alternative with one, or with a known extension. Lower case. An unknown extension
    /// is skipped, and stays in `custom`.
    private mutating func contentType(_ paths: CataloguePaths, _ payload: borrowing PlatformPayload) -> String? {
        guard payload.mayHave(paths) else { return nil }
        for path in paths.all {
            guard let value = payload.value(at: path), let word = value.text?.lowercased(),
                let type = word.contains("/") ? word : MediaKind.contentTypesByExtension[word]
            else { continue }
            consumed.insert(value)
            return type
        }
        return nil
    }

    // MARK: Carousel

    /// Reads the first field with a picture. An orientation other than `portrait` and `landscape` is ignored.
    mutating func readCarousel(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        for position in fields.carousel.indices {
            guard payload.mayHave(fields.carousel[position].source) else { continue }
            let field = fields.carousel[position]
            let items =
                field.list.isEmpty
                ? countedItems(field, payload, &notification) : listedItems(field, payload, &notification)
            guard !items.isEmpty else { continue }
            let orientation = take(field.orientation, in: payload, where: \.isOrientation)
            notification.carousel = .init(orientation: orientation?.text?.lowercased(), items: items)
            return
        }
    }

    /// The pictures of a list; skips elements without a picture. At most ``longestList`` elements are read.
    private mutating func listedItems(
        _ field: CatalogueFields.CarouselField, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) -> [PushNotification.Carousel.Item] {
        let parser = payload.parser
        return elements(field.list, "too-many-items", payload, &notification).compactMap { element in
            item(field, &notification) { parser.value(at: $0, from: element.value) }
        }
    }

    /// Pictures whose keys count up; the first gap ends them. At most ``longestCount``.
    private mutating func countedItems(
        _ field: CatalogueFields.CarouselField, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) -> [PushNotification.Carousel.Item] {
        var items: [PushNotification.Carousel.Item] = []
        let members = members
        for count in field.first..<field.first + Self.longestCount {
            guard let item = item(field, &notification, { payload.value(at: $0, count: count, by: members) }) else {
                break
            }
            items.append(item)
        }
        return items
    }

    /// One picture with its texts; nil without a picture. Consumes the texts of an element with a picture only.
    private mutating func item(
        _ field: CatalogueFields.CarouselField, _ notification: inout PushNotification,
        _ find: (CataloguePath) -> JSONValue?
    ) -> PushNotification.Carousel.Item? {
        let trims = trimsLinks
        let url = take(field.url, find, where: { $0.isWebLink(trimmed: trims) })?.text
        guard let url else { return nil }
        let media = notification.addMedia(at: trims ? url.trimmed : url, as: .carousel)
        return .init(
            caption: takeText(field.caption, find), subcaption: takeText(field.subcaption, find),
            url: takeLink(field.link, find), media: media)
    }
}

extension JSONValue {
    /// True for a text that begins with `http://` or `https://`. SDKs look up other texts among the app's own pictures,
    /// or complete them with an address of the vendor. `trimmed`: white space before the link does not count.
    fileprivate func isWebLink(trimmed: Bool) -> Bool {
        guard let utf8 else { return false }
        guard trimmed else { return utf8.isWebLink }
        return UnsafeBufferPointer(rebasing: utf8.drop { $0 <= UInt8(ascii: " ") }).isWebLink
    }

    /// Compared without case.
    fileprivate var isOrientation: Bool {
        utf8.map { $0.equalsIgnoringCase("portrait") || $0.equalsIgnoringCase("landscape") } ?? false
    }
}

/// The links that a reading found so far, compared by their bytes.
private struct KnownLinks {
    /// Up to this many links, a search is faster than a hash table.
    private static let most = 8
    private var few: [String] = []
    /// All links, once there are more.
    private var many: Set<[UInt8]> = []

    /// False if the link has been inserted before.
    @discardableResult
    mutating func insert(_ link: String) -> Bool {
        if few.count == Self.most {
            if many.isEmpty { many = Set(few.map { Array($0.utf8) }) }
            return many.insert(Array(link.utf8)).inserted
        }
        guard !few.contains(where: { $0.utf8.elementsEqual(link.utf8) }) else { return false }
        few.append(link)
        return true
    }
}
