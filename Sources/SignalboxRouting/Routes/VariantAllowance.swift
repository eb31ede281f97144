/// The memory and the work that the variants of one event may still take together. Without a bound, a hundred routes
/// that redact or transform an event of 4 MiB would make a hundred copies of it.
package struct VariantAllowance {
    /// The most bytes of the variants of one event. The last variant may exceed it.
    package static let bytes = 64 * 1024 * 1024
    /// The most work of their templates, in units of ``TemplateBudget``: eight times that of one template.
    package static let work = 8 * EventTemplate.workLimit

    /// Both limits as a noun phrase, for warnings.
    static let words = "\(bytes / 1024 / 1024) MiB, or too much work"

    private var bytes: Int
    /// At least 0.
    private(set) var work: Int

    /// The defaults are the limits of the gateway; tests use smaller ones.
    package init(bytes: Int = Self.bytes, work: Int = Self.work) { (self.bytes, self.work) = (bytes, work) }

    /// True if no further variant may be made.
    package var isExhausted: Bool { bytes <= 0 || work == 0 }

    /// Counts the bytes of a variant.
    package mutating func take(bytes taken: Int) { bytes -= taken }

    /// Counts the work of a template.
    mutating func take(work taken: Int) { work = max(0, work - taken) }
}
