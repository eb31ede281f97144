import SignalboxEgress

/// The beginning of standard input, by which a resumed run recognises that it reads the same text again.
///
/// A class because the reader fills it and the session saves its identity. Only the task that replays uses it.
final class StreamHead {
    /// The text so far, decompressed; at most ``InputIdentity/headLength`` bytes.
    private var bytes: [UInt8] = []
    /// Saved by an earlier process of the run; empty for a new run.
    private let earlier: InputIdentity
    private var isChecked = false

    init(resuming earlier: InputIdentity) { self.earlier = earlier }

    /// Call it with every piece of the text, in order.
    func append(_ piece: UnsafeRawBufferPointer) { bytes += piece.prefix(InputIdentity.headLength - bytes.count) }

    /// False until there is enough text to compare. `isEnd`: no text follows. Throws ``ReplayError/refused(_:)`` for
    /// another text than that of the earlier process.
    func isKnown(isEnd: Bool) throws(ReplayError) -> Bool {
        guard !isChecked else { return true }
        guard bytes.count >= earlier.size || isEnd else { return false }
        guard bytes.count >= earlier.size, hexadecimal(sha256(Array(bytes.prefix(earlier.size)))) == earlier.head else {
            throw Self.otherText("begins with other text")
        }
        isChecked = true
        return true
    }

    /// For the resume file: the longer of the beginnings that this process and an earlier one have read.
    var identity: InputIdentity {
        guard bytes.count > earlier.size else { return earlier }
        return InputIdentity(name: earlier.name, size: bytes.count, head: hexadecimal(sha256(bytes)))
    }

    /// `difference`: a clause without its subject.
    static func otherText(_ difference: String) -> ReplayError {
        .refused(
            "Standard input \(difference) than when this replay began. Feed the same text again, or remove the file of "
                + "--resume to start over.")
    }
}
